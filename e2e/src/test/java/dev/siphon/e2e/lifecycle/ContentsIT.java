package dev.siphon.e2e.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.Snapshot;
import csi.v1.Volume;
import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import io.grpc.Status;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Snapshots, clones and copies, with real files.
@ExtendWith(LeavesNothingBehind.class)
final class ContentsIT {
    private static final int U1 = 10001;
    private static final int SNAPSHOTS_OF_A_VOLUME = 100;

    @Test
    void snapshotOfADeletedVolumeIsRestored() {
        try (Setup setup = Setup.start()) {
            Volume volume = setup.volume("origin", "u1", Requests.GIB);
            Path mounted = setup.mounts().mount(volume);
            Contents.write(U1, mounted);
            Map<String, String> written = Contents.read(mounted);
            Snapshot snapshot = setup.snapshot("of-origin", volume);
            Contents.as(U1, mounted, "rm -r dir && printf later > after");
            setup.mounts().unpublish(volume, "pod");
            setup.mounts().unstage(volume);

            setup.delete(volume);
            Volume restored = setup.volume(
                    Requests.fromSnapshot(Requests.volume("restored", "u1", Requests.GIB), snapshot.getSnapshotId()));

            Path there = setup.mounts().mount(restored);
            assertEquals(written, Contents.read(there));
            assertEquals(Set.of("10001:10001"), Contents.owners(there));
            assertEquals(0, Contents.as(U1, there, "printf more > dir/new").exit());
        }
    }

    @Test
    void cloneOfAVolumeGoesItsOwnWay() {
        try (Setup setup = Setup.start()) {
            Volume volume = setup.volume("origin", "u1", Requests.GIB);
            Path mounted = setup.mounts().mount(volume);
            Contents.write(U1, mounted);
            Map<String, String> written = Contents.read(mounted);

            Volume clone = setup.volume(
                    Requests.fromVolume(Requests.volume("clone", "u1", 2 * Requests.GIB), volume.getVolumeId()));

            Path there = setup.mounts().mount(clone);
            assertEquals(2 * Requests.GIB, clone.getCapacityBytes());
            assertEquals(written, Contents.read(there));
            Contents.as(U1, mounted, "rm -r dir");
            assertEquals(written, Contents.read(there));
        }
    }

    @Test
    void copyForAnotherAccountBelongsToThatAccount() {
        try (Setup setup = Setup.start()) {
            Volume volume = setup.volume("origin", "u1", Requests.GIB);
            Path mounted = setup.mounts().mount(volume);
            Contents.write(U1, mounted);
            Map<String, String> written = Contents.read(mounted);
            Snapshot snapshot = setup.snapshot("of-origin", volume);

            Volume copy = setup.volume(Requests.acrossAccounts(
                    Requests.fromSnapshot(Requests.volume("copy", "u2", Requests.GIB), snapshot.getSnapshotId())));

            Path there = setup.mounts().mount(copy);
            assertEquals(written, Contents.read(there));
            assertEquals(Set.of("10002:10002"), Contents.owners(there));
            assertNotEquals(0, Contents.as(U1, there, "ls").exit(), "the first account can list it");
        }
    }

    @Test
    void snapshotBackedVolumeIsReadOnlyAndKeepsItsSnapshot() {
        try (Setup setup = Setup.start()) {
            Volume volume = setup.volume("origin", "u1", Requests.GIB);
            Path mounted = setup.mounts().mount(volume);
            Contents.write(U1, mounted);
            Map<String, String> written = Contents.read(mounted);
            Snapshot snapshot = setup.snapshot("of-origin", volume);
            Contents.as(U1, mounted, "rm -r dir");

            Volume shallow = setup.volume(
                    Requests.fromSnapshot(Requests.volume("shallow", "u1", Requests.GIB), snapshot.getSnapshotId())
                            .toBuilder()
                            .clearVolumeCapabilities()
                            .addVolumeCapabilities(Requests.mount(Mode.MULTI_NODE_READER_ONLY))
                            .build());

            Path there = setup.mounts().mount(shallow, Requests.mount(Mode.MULTI_NODE_READER_ONLY));
            assertEquals(written, Contents.read(there));
            assertTrue(Contents.as(U1, there, "printf x > dir/new").output().contains("Read-only file system"));
            Outcome<?> early = Outcome.of(() ->
                    setup.controller().controller().deleteSnapshot(Requests.deleteSnapshot(snapshot.getSnapshotId())));
            assertEquals(Status.Code.FAILED_PRECONDITION, early.code(), early.message());
            assertEquals(written, Contents.read(there));
        }
    }

    @Test
    void oneSnapshotTooManyIsResourceExhausted() {
        try (Setup setup = Setup.start()) {
            Volume volume = setup.volume("origin", "u1", Requests.GIB);
            for (int i = 0; i < SNAPSHOTS_OF_A_VOLUME; i++) {
                setup.snapshot("snapshot-" + i, volume);
            }

            Outcome<?> oneMore = Outcome.of(() -> setup.controller()
                    .controller()
                    .createSnapshot(Requests.snapshot("one-more", volume.getVolumeId())));

            assertEquals(Status.Code.RESOURCE_EXHAUSTED, oneMore.code(), oneMore.message());
            assertEquals(
                    setup.snapshot("snapshot-0", volume).getSnapshotId(),
                    setup.snapshot("snapshot-0", volume).getSnapshotId());
        }
    }
}
