package dev.siphon.node.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.VolumeContext.MounterChoice;
import dev.siphon.csi.check.CheckOutcome;
import dev.siphon.node.ceph.KernelClient;
import dev.siphon.node.mount.CephKey;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class MountChecksTest {
    private static MountChecks checks(MounterChoice mounter, String keyType) {
        return new MountChecks(
                mounter, Optional.of(keyType).filter(text -> !text.equals("-")).map(CephKey.Kind::parse));
    }

    private static String name(CheckOutcome outcome) {
        return outcome.getClass().getSimpleName().toLowerCase(Locale.ROOT);
    }

    @ParameterizedTest(name = "{0}, ceph in Linux {2}: {1}, {3} keys: {4}")
    @CsvSource({
        "AUTO,   true,  7.0.1,   -,       ok,      ok",
        "AUTO,   true,  6.1.0,   -,       ok,      ok",
        "AUTO,   true,  7.0.1,   aes256k, ok,      ok",
        "AUTO,   true,  6.18.44, aes256k, ok,      warned",
        "AUTO,   true,  6.18.44, aes,     ok,      ok",
        "KERNEL, true,  6.1.0,   aes256k, ok,      failed",
        "AUTO,   false, 7.0.1,   aes,     warned,  skipped",
        "KERNEL, false, 7.0.1,   aes,     failed,  skipped",
        "FUSE,   true,  7.0.1,   aes,     skipped, skipped",
        "FUSE,   false, 7.0.1,   aes256k, skipped, skipped"
    })
    void theKernelsClientIsNeededUnlessFuseIsAskedFor(
            MounterChoice mounter, boolean hasCeph, String release, String keyType, String client, String key) {
        KernelClient kernel = KernelClient.byRelease(hasCeph, release);
        MountChecks checks = checks(mounter, keyType);
        assertEquals(client, name(checks.client(kernel)));
        assertEquals(key, name(checks.keyType(kernel)));
    }

    @ParameterizedTest(name = "{0} with Linux {1}: {2}")
    @CsvSource({
        "AUTO,   7.0.1, 'aes: the kernel''s client; aes256k: the kernel''s client'",
        "AUTO,   6.1.0, 'aes: the kernel''s client; aes256k: ceph-fuse, as kernels before 7.0'",
        "KERNEL, 6.1.0, 'aes: the kernel''s client; aes256k: nothing mounts, as kernels before 7.0'"
    })
    void withoutATypeItIsSaidWhatHappensWithEach(MounterChoice mounter, String release, String said) {
        CheckOutcome outcome = checks(mounter, "-").keyType(KernelClient.byRelease(true, release));
        assertTrue(outcome instanceof CheckOutcome.Ok ok && ok.found().startsWith(said), outcome::toString);
    }

    @ParameterizedTest(name = "{0}, Linux {2}, installed {3}, device {4}: {5}")
    @CsvSource({
        "KERNEL, false, 6.1, false, false, skipped",
        "AUTO,   true,  7.0, false, false, skipped",
        "AUTO,   true,  7.0, true,  false, skipped",
        "AUTO,   true,  6.1, false, true,  failed",
        "AUTO,   false, 7.0, false, true,  failed",
        "AUTO,   false, 7.0, true,  true,  ok",
        "FUSE,   true,  7.0, false, true,  failed",
        "FUSE,   true,  7.0, true,  false, failed",
        "FUSE,   true,  7.0, true,  true,  ok"
    })
    void fuseIsNeededWhereTheKernelsClientIsNotEnough(
            MounterChoice mounter, boolean hasCeph, String release, boolean installed, boolean device, String found) {
        CheckOutcome outcome = checks(mounter, "-").fuse(KernelClient.byRelease(hasCeph, release), installed, device);
        assertEquals(found, name(outcome));
    }

    @ParameterizedTest(name = "erofs {0}, erofsfuse {1}, device {2}: {3}")
    @CsvSource({
        "true,  false, false, ok,     ''",
        "true,  true,  true,  ok,     ''",
        "false, true,  true,  warned, modprobe erofs",
        "false, true,  false, failed, modprobe fuse",
        "false, false, true,  failed, install erofsfuse"
    })
    void erofsfuseIsEnoughAndIsWarnedOf(boolean there, boolean installed, boolean device, String found, String remedy) {
        CheckOutcome outcome = MountChecks.erofs(there, installed, device);
        assertEquals(found, name(outcome));
        assertTrue(
                switch (outcome) {
                    case CheckOutcome.Ok _, CheckOutcome.Skipped _ -> remedy.isEmpty();
                    case CheckOutcome.Warned(var _, var said) -> said.contains(remedy);
                    case CheckOutcome.Failed(var _, var said) -> said.contains(remedy);
                },
                outcome::toString);
    }

    @Test
    void whoeverMayNotMountIsTold() {
        assertInstanceOf(
                CheckOutcome.Ok.class, MountChecks.privileges(List.of("Name:\tjava", "CapEff:\t000001ffffffffff")));
        // the default capabilities of a container
        CheckOutcome refused = MountChecks.privileges(List.of("CapEff:\t00000000a80425fb"));
        assertTrue(
                refused instanceof CheckOutcome.Failed failed && failed.remedy().contains("privileged"));
        assertInstanceOf(CheckOutcome.Failed.class, MountChecks.privileges(List.of()));
    }
}
