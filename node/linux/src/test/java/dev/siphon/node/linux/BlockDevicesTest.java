package dev.siphon.node.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.node.linux.BlockDevices.DeviceReads;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class BlockDevicesTest {
    private static DeviceReads reads(long bytes, long millis) {
        return new DeviceReads(bytes, Duration.ofMillis(millis));
    }

    /// iostat(1) takes the same columns.
    @Test
    void theReadsAreTheKernels() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/sys/dev/block"))) {
            List<Path> devices = all.toList();
            assertTrue(!devices.isEmpty(), "this machine has block devices");
            for (Path device : devices) {
                DeviceReads first = BlockDevices.reads(device.getFileName().toString());
                String[] counts =
                        Files.readString(device.resolve("stat")).strip().split("\\s+", -1);
                DeviceReads then = BlockDevices.reads(device.getFileName().toString());
                long bytes = Long.parseLong(counts[2]) * 512;
                long millis = Long.parseLong(counts[3]);
                assertTrue(first.bytes() <= bytes && bytes <= then.bytes(), device::toString);
                assertTrue(
                        first.waited().toMillis() <= millis
                                && millis <= then.waited().toMillis(),
                        device::toString);
            }
        }
    }

    @Test
    void nothingIsReadFromADeviceThatIsNotThere() {
        assertEquals(DeviceReads.NONE, BlockDevices.reads("0:4095"));
    }

    @Test
    void readsAreCountedSinceAnEarlierMoment() {
        assertEquals(reads(300, 20), reads(500, 30).since(reads(200, 10)));
        assertEquals(reads(0, 0), reads(500, 30).since(reads(500, 30)));
        assertEquals(DeviceReads.NONE, reads(100, 30).since(reads(200, 10)), "created again");
    }
}
