package dev.siphon.node.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.node.mount.CephKey;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KernelClientTest {
    private static Set<String> words(String text) {
        return text.equals("-") ? Set.of() : new HashSet<>(Arrays.asList(text.split(" ")));
    }

    /// Rows: Debian's kernels, CentOS Stream's with backports, one that rejects even aes, one without parameters.
    @ParameterizedTest(name = "Linux {0}, takes {1}, has {2}: aes256k {3}, maps owners {4}")
    @CsvSource({
        "6.1.0-40-amd64,          aes,         disable_send_metrics,                      false, false",
        "6.12.57-amd64,           aes,         disable_send_metrics enable_unsafe_idmap, false, true",
        "7.2.7,                   aes aes256k, disable_send_metrics enable_unsafe_idmap, true,  true",
        "5.14.0-687.el9.x86_64,   aes aes256k, disable_send_metrics,                      true,  false",
        "5.14.0-999.el9.x86_64,   aes aes256k, enable_unsafe_idmap,                       true,  true",
        "7.2.7,                   aes,         disable_send_metrics,                      false, false",
        "6.1.0-40-amd64,          -,           disable_send_metrics,                      false, false",
        "7.2.7,                   -,           enable_unsafe_idmap,                       true,  true",
        "5.12.0,                  aes,         -,                                         false, false",
        "6.8.0,                   aes,         -,                                         false, true",
    })
    void itsAnswerCountsAndTheReleaseOnlyWithoutOne(
            String release, String keys, String parameters, boolean uses, boolean maps) {
        KernelClient kernel = KernelClient.asked(
                KernelClient.byRelease(true, release),
                kind -> words(keys).contains(kind.toString()),
                words(parameters));
        assertEquals(uses, kernel.obstacle(CephKey.Kind.AES256K).isEmpty());
        assertEquals(true, kernel.obstacle(CephKey.Kind.AES).isEmpty());
        assertEquals(maps, kernel.mapsOwners());
    }

    @ParameterizedTest
    @CsvSource({"6.6.99, false", "6.7.0-rc1, true", "6.18.44, true", "7.0.1, true", "5.15.0, false", "strange, false"})
    void ownersAreMappedSinceLinux67(String release, boolean maps) {
        assertEquals(maps, KernelClient.byRelease(true, release).mapsOwners());
    }

    @Test
    void aModuleThatIsLoadedAgainIsTriedAgain() {
        AtomicReference<String> module = new AtomicReference<>("first");
        UnusableKeys unusable = new UnusableKeys(module::get);
        KernelClient kernel = KernelClient.byRelease(true, "7.2.7");
        assertEquals(kernel, unusable.restrict(kernel));
        unusable.add();
        assertEquals(
                Set.of(CephKey.Kind.AES256K),
                unusable.restrict(kernel).rejected().keySet());
        module.set("second");
        assertEquals(kernel, unusable.restrict(kernel));
    }
}
