package dev.siphon.controller.seal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.seal.SealingCluster.Notice;
import dev.siphon.controller.volume.SnapshotClass.Modes;
import dev.siphon.controller.volume.SnapshotClass.SnapshotRequest;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/// The contract of [SealingCluster].
public abstract class SealingClusterContract {
    private static final String NAME = "siphon-pack-i00000000000000a";
    private static final Map<String, String> MONITORS = Map.of("monitors", "10.0.0.1");

    protected abstract SealingCluster cluster();

    /// Ends a packer's process, with an error message if it fails.
    protected abstract void ends(String name, Optional<String> lastWords);

    /// Provides what a packer needs, as a cluster does after it has seen the request.
    protected void comes(String name) {}

    private void begins() {
        assertInstanceOf(PackerOutcome.class, cluster().begin(order()));
        comes(NAME);
        assertInstanceOf(PackerOutcome.class, cluster().begin(order()));
    }

    protected static PackOrder order() {
        VolumeId source = VolumeId.parse("s1:lab:cephfs:a00000000000000000001:r");
        VolumeId target = new VolumeId.Static("lab", "cephfs", "/datasets/i00000000000000a");
        return new PackOrder(
                NAME,
                Modes.READABLE,
                "",
                new SealOrder.Mounted(source, VolumeContext.fromMap(source, MONITORS)),
                new SealOrder.Mounted(target, VolumeContext.fromMap(target, MONITORS)),
                new VolumeKey("siphon-packer.cephfs.i00000000000000a", "key"));
    }

    private static Dataset dataset(String path) {
        return new Dataset(
                "u1.x", Optional.of("lab"), "cephfs", path, Digest.of(ByteBuffer.allocate(1)), 5000, Set.of("u1"));
    }

    @Test
    void aPackerBeginsOnce() {
        assertEquals(Optional.empty(), cluster().find(NAME));
        begins();
        assertInstanceOf(PackerOutcome.Running.class, cluster().find(NAME).orElseThrow());
        begins();
        ends(NAME, Optional.empty());
        assertInstanceOf(PackerOutcome.Ended.class, cluster().find(NAME).orElseThrow());
        begins();
        assertInstanceOf(
                PackerOutcome.Ended.class, cluster().find(NAME).orElseThrow(), "one that is there is left alone");
    }

    @Test
    void aPackerThatFailedSaysWhy() {
        begins();
        ends(NAME, Optional.of("/source/a changed while it was packed"));
        PackerOutcome.Failed failed = assertInstanceOf(
                PackerOutcome.Failed.class, cluster().find(NAME).orElseThrow());
        assertTrue(failed.why().contains("changed while it was packed"), failed::why);
    }

    @Test
    void whatIsClearedIsGoneAndMayBeClearedAgain() {
        begins();
        assertTrue(cluster().clear(NAME));
        assertEquals(Optional.empty(), cluster().find(NAME));
        assertTrue(cluster().clear(NAME));
        begins();
        assertInstanceOf(PackerOutcome.Running.class, cluster().find(NAME).orElseThrow());
    }

    @Test
    void aDatasetIsDeclaredOnceAndTakenBackByItsPlace() {
        cluster().declare(dataset("/datasets/ia"));
        cluster().declare(dataset("/datasets/ia"));
        cluster().withdraw("u1.x", "/datasets/ib");
        assertThrows(DriverException.IncompatibleExisting.class, () -> cluster().declare(dataset("/datasets/ib")));
        for (int i = 0; i < 2; i++) {
            cluster().withdraw("u1.x", "/datasets/ia");
        }
        cluster().declare(dataset("/datasets/ib"));
    }

    @Test
    void whetherAnImageWasReadBackIsKeptAtItsDataset() {
        ReadBack refused = new ReadBack(ReadBack.State.REFUSED, "from byte 0 on: it is not what it says");
        cluster().readBacks().note("u1.x", refused);
        assertEquals(Optional.empty(), cluster().readBacks().find("u1.x"));
        cluster().declare(dataset("/datasets/i00000000000000a"));
        assertEquals(
                Optional.empty(),
                cluster().readBacks().find("u1.x").orElseThrow().noted());
        for (ReadBack noted : List.of(refused, ReadBack.READS, ReadBack.DONE)) {
            cluster().readBacks().note("u1.x", noted);
            ReadBacks.Image image = cluster().readBacks().find("u1.x").orElseThrow();
            assertEquals(Optional.of(noted), image.noted());
            assertEquals(List.of(image), cluster().readBacks().all());
            assertEquals(
                    dataset("/datasets/i00000000000000a").digest(),
                    image.dataset().digest());
        }
        cluster().withdraw("u1.x", "/datasets/i00000000000000a");
        cluster().declare(dataset("/datasets/ib"));
        assertEquals(List.of(), cluster().readBacks().all(), "an administrator's");
        cluster().withdraw("u1.x", "/datasets/ib");
    }

    @Test
    void whoHasGoneIsToldNothing() {
        cluster().report(new SnapshotRequest("u1", "gone"), new Notice(false, "DatasetBeingSealed", "1%"));
        cluster().report(new SnapshotRequest("../u1", "x"), new Notice(false, "DatasetBeingSealed", "1%"));
    }
}
