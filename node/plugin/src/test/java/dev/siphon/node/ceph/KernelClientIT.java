package dev.siphon.node.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.node.linux.KernelLog;
import dev.siphon.node.linux.MountSyscalls;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.mount.CephKey;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Asks a kernel that has CephFS, in a guest of the lab.
@Tag("kernel")
class KernelClientIT {
    /// The kernels of guests are Debian's, or built from its sources, so their release numbers are true.
    @Test
    void theKernelAnswersAsItsReleaseSays() {
        KernelClient kernel = KernelClient.ask();
        KernelClient guess = KernelClient.byRelease(true, System.getProperty("os.version"));
        assertTrue(kernel.hasCeph());
        assertEquals(guess.rejected().keySet(), kernel.rejected().keySet());
        assertEquals(guess.mapsOwners(), kernel.mapsOwners());
    }

    @Test
    void whatNoKernelTakesIsRejected() {
        assertTrue(MountSyscalls.takesOption(
                "ceph", "secret", CephKey.madeUp(CephKey.Kind.AES).reveal()));
        assertFalse(MountSyscalls.takesOption("ceph", "secret", "no key"));
        assertFalse(MountSyscalls.takesOption("no file system", "secret", "no key"));
    }

    @Test
    void askingMountsNothingAndLogsNothing() {
        KernelClient.ask(); // may load the module, which logs a line
        MountTable before = MountTable.read();
        try (KernelLog log = KernelLog.fromNow()) {
            KernelClient.ask();
            assertEquals(
                    List.of(),
                    log.said().stream().filter(line -> line.contains("secret")).toList());
        }
        assertEquals(before, MountTable.read());
    }
}
