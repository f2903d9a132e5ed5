package dev.siphon.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.BlockDevices.DeviceReads;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class DatasetReadsTest {
    private static final ReadLocation REMOTE = new ReadLocation.Remote();
    private static final ReadLocation LOCAL = new ReadLocation.Local(Path.of("/mnt/nvme0/siphon"));
    private static final ImageMountKey ONE = ImageMountKey.anywhere(new Digest("1".repeat(64)));
    private static final ImageMountKey OTHER = ImageMountKey.anywhere(new Digest("2".repeat(64)));

    private final Map<String, DeviceReads> devices = new HashMap<>();
    private final DatasetReads reads = new DatasetReads(device -> devices.getOrDefault(device, DeviceReads.NONE));

    private void read(String device, long bytes, long millis) {
        devices.merge(device, new DeviceReads(bytes, Duration.ofMillis(millis)), DeviceReads::plus);
    }

    private void assertRead(long local, long remote) {
        DatasetReads.Totals totals = reads.totals();
        assertEquals(local, totals.local().bytes(), "local");
        assertEquals(remote, totals.remote().bytes(), "remote");
    }

    @Test
    void whatWasReadBeforeASwitchCameFromTheEarlierSource() {
        read("7:0", 1000, 10); // by an earlier user of that number
        reads.follow(ONE, "7:0", REMOTE);
        assertRead(0, 0);
        read("7:0", 300, 40);
        reads.follow(ONE, "7:0", LOCAL);
        read("7:0", 500, 5);
        assertRead(500, 300);
        assertEquals(Duration.ofMillis(40), reads.totals().remote().waited());
        assertEquals(Duration.ofMillis(5), reads.totals().local().waited());
        reads.follow(ONE, "7:0", REMOTE);
        read("7:0", 1, 0);
        assertRead(500, 301);
    }

    @Test
    void aScrapeCountsNothingTwice() {
        reads.follow(ONE, "7:0", LOCAL);
        read("7:0", 500, 5);
        assertRead(500, 0);
        assertRead(500, 0);
    }

    @Test
    void aDetachedTreeKeepsWhatItReadAndCountsNoMore() {
        reads.follow(ONE, "7:0", REMOTE);
        read("7:0", 300, 0);
        reads.unfollow(ONE);
        read("7:0", 1000, 0); // by another program
        assertRead(0, 300);
        reads.unfollow(ONE);
        assertRead(0, 300);
    }

    @Test
    void aDeviceCountsForItsLastTreeOnly() {
        reads.follow(ONE, "7:0", REMOTE);
        reads.follow(OTHER, "7:0", LOCAL);
        read("7:0", 300, 0);
        assertRead(300, 0);
    }

    @Test
    void aDeviceThatWasCreatedAgainBeginsAtZero() {
        read("7:0", 1000, 0);
        reads.follow(ONE, "7:0", LOCAL);
        devices.clear();
        read("7:0", 200, 0);
        assertRead(0, 0);
        read("7:0", 50, 0);
        assertRead(50, 0);
    }
}
