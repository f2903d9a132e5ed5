package dev.siphon.node.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException.InUse;
import dev.siphon.csi.VolumeContext.MounterChoice;
import dev.siphon.node.fuse.FuseCaches;
import dev.siphon.node.fuse.FuseChildren;
import dev.siphon.node.mount.CephCredentialsTest;
import dev.siphon.node.mount.CephKey;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MounterSelectionTest {
    private static final String AES = "aes";

    private static MounterSelection node(MounterChoice override, boolean hasCeph, String release, boolean fuse) {
        return new MounterSelection(
                override,
                () -> KernelClient.byRelease(hasCeph, release),
                () -> fuse,
                new KernelMounter(new UnusableKeys()),
                new FuseMounter("node", FuseCaches.usual(), new FuseChildren()));
    }

    private static CephKey key(String kind) {
        return CephKey.parse("key", kind.equals(AES) ? CephCredentialsTest.AES_KEY : CephCredentialsTest.AES256K_KEY);
    }

    @ParameterizedTest(name = "a class that says {0}, a kernel {3} with ceph={2}, a key of kind {4}: {5}")
    @CsvSource({
        "AUTO,   AUTO,   true,  6.8.0-31-generic, aes,     kernel",
        "AUTO,   AUTO,   true,  6.8.0-31-generic, aes256k, fuse",
        "AUTO,   AUTO,   true,  7.0.1,            aes256k, kernel",
        "AUTO,   AUTO,   false, 7.2.7,            aes,     fuse",
        "AUTO,   AUTO,   true,  strange,          aes256k, fuse",
        "KERNEL, AUTO,   true,  6.8.0,            aes,     kernel",
        "FUSE,   AUTO,   true,  7.2.7,            aes,     fuse",
        "FUSE,   KERNEL, true,  7.2.7,            aes,     kernel",
        "KERNEL, FUSE,   true,  7.2.7,            aes,     fuse",
    })
    void theBestThatIsAllowedIsChosen(
            MounterChoice asked, MounterChoice override, boolean hasCeph, String release, String kind, String chosen) {
        assertEquals(
                chosen,
                node(override, hasCeph, release, true).choose(asked, key(kind)).name());
    }

    @ParameterizedTest(name = "{0} with a kernel {2}, ceph={1}, fuse={3}: {5}")
    @CsvSource({
        "KERNEL, false, 7.2.7, true,  aes,     no module",
        "KERNEL, true,  6.8.0, true,  aes256k, before 7.0",
        "FUSE,   true,  7.2.7, false, aes,     not installed",
        "AUTO,   false, 7.2.7, false, aes,     not installed",
        "AUTO,   true,  6.8.0, false, aes256k, not installed",
    })
    void whatCannotBeIsRefusedWithTheReason(
            MounterChoice asked, boolean hasCeph, String release, boolean fuse, String kind, String why) {
        MounterSelection node = node(MounterChoice.AUTO, hasCeph, release, fuse);
        InUse e = assertThrows(InUse.class, () -> node.choose(asked, key(kind)));
        assertTrue(String.valueOf(e.getMessage()).contains(why), e::getMessage);
    }
}
