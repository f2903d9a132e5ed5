package dev.siphon.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DiskWatchTest {
    /// Log lines of kernels 5.10 and 6.18, and two about other devices.
    @Test
    void theKernelsLogNamesLoopDevicesWithErrors() {
        assertEquals(
                Set.of(7, 12),
                DiskWatch.devices(List.of(
                        "blk_update_request: I/O error, dev loop7, sector 8 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 0",
                        "I/O error, dev loop12, sector 2048 op 0x0:(READ) flags 0x80700 phys_seg 4 prio class 2",
                        "I/O error, dev nvme0n1, sector 2048 op 0x0:(READ) flags 0x80700 phys_seg 4 prio class 2",
                        "Buffer I/O error on dev loop3, logical block 1, async page read",
                        "loop4: detected capacity change from 0 to 8")));
    }

    @Test
    void anErrorFromBeforeADeviceWasMadeIsNotItsOwn() {
        String made = "loop7: detected capacity change from 0 to 20480";
        String error = "I/O error, dev loop7, sector 2048 op 0x0:(READ) flags 0x80700 phys_seg 4 prio class 2";
        assertTrue(DiskWatch.isHit(7, List.of(made, error, "loop8: detected capacity change from 0 to 8"), false));
        assertFalse(DiskWatch.isHit(7, List.of(made, error, made), false));
        assertFalse(DiskWatch.isHit(7, List.of(made), true));
        assertTrue(DiskWatch.isHit(7, List.of("loop70: detected capacity change from 0 to 8"), true));
        assertFalse(DiskWatch.isHit(70, List.of(error), false));
    }
}
