package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException.InvalidRequest;
import dev.siphon.node.linux.MountFlag;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClientOptionsTest {
    @Test
    void everyOptionGoesToWhoObeysIt() {
        ClientOptions options = ClientOptions.of(
                List.of("ro", "noatime", "sync", "rsize=4096", "relatime", "noexec", "acl", "dirsync", "acl"), false);
        assertEquals(
                Set.of(MountFlag.READ_ONLY, MountFlag.NO_ATIME, MountFlag.NO_EXEC, MountFlag.NO_SUID, MountFlag.NO_DEV),
                options.flags());
        assertEquals(List.of("sync", "dirsync"), options.synchronous());
        assertEquals(List.of("rsize=4096", "acl"), options.client());
        assertTrue(options.isReadOnly());
    }

    @Test
    void devicesAndSetuidAreNeverWanted() {
        assertEquals(
                Set.of(MountFlag.NO_SUID, MountFlag.NO_DEV),
                ClientOptions.of(List.of(), false).flags());
        assertTrue(ClientOptions.of(List.of(), true).isReadOnly());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"secret=x", "name=admin", "ro,secret=x", "suid", "dev", "rsize", "rsize=1,name=a", "", "RO"})
    void whatIsNotOnTheListIsRefused(String option) {
        assertThrows(InvalidRequest.class, () -> ClientOptions.of(List.of(option), false));
    }
}
