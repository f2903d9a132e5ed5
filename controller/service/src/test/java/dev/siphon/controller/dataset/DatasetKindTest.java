package dev.siphon.controller.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.Callers;
import dev.siphon.controller.volume.ClaimedDatasets;
import dev.siphon.controller.volume.ControllerDomain;
import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.controller.volume.Owners;
import dev.siphon.controller.volume.SnapshotDatasets;
import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ClaimAccessMode;
import dev.siphon.controller.volume.Volumes;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Volumes that show a dataset, by the calls that all kinds of volumes share. `SealedSnapshotsTest` has those from a
/// sealed snapshot.
final class DatasetKindTest {
    private static final Map<String, String> ALL = Map.of("dataset", "all");

    @TempDir
    private Path folder = Path.of("");

    private final MintedKeys minted = new MintedKeys();
    private DatasetsWorld world = new DatasetsWorld(folder, false);

    @BeforeEach
    void declare() {
        world = new DatasetsWorld(folder, false);
        world.keys = Optional.of(minted.keys(world.files()));
        world.declare(Map.of("all", List.of("*"), "other", List.of("*"), "vision", List.of("group:vision")));
        for (String name : List.of("all", "other", "vision")) {
            world.ceph
                    .ports()
                    .files()
                    .makeDirectory(InMemoryCeph.CLUSTER, InMemoryCeph.FILE_SYSTEM, "/datasets/" + name, name);
        }
    }

    private ControllerDomain plain() {
        return ControllerDomain.over(
                world.ceph.ports(),
                new Owners(world.directory, Optional.empty(), Optional.empty()),
                Callers.NONE,
                () -> Duration.ofSeconds(30));
    }

    private Volumes volumes() {
        return plain().showing(world.volumes(), SnapshotDatasets.NONE).volumes();
    }

    private VolumeId.DatasetVolume created(Map<String, String> parameters) {
        Volume made = volumes().create(DatasetsWorld.request("user-u1", parameters));
        return assertInstanceOf(VolumeId.DatasetVolume.class, made.id());
    }

    @Test
    void theSameRequestGetsTheSameVolumeAndNoSubvolume() {
        VolumeRequest request = DatasetsWorld.request("user-u1", ALL);
        Volume first = volumes().create(request);
        assertEquals("/datasets/all", created(ALL).path());
        assertEquals(first, volumes().create(request));
        assertEquals(Set.of(first.id()), minted.kept.keySet());
        assertEquals(List.of(), world.ceph.everything());
        assertEquals(first.id(), volumes().get(first.id()).id());
    }

    @Test
    void theSameNameForAnotherDatasetIsAnotherVolume() {
        VolumeId.DatasetVolume first = created(ALL);
        VolumeId.DatasetVolume second = created(Map.of("dataset", "other"));
        assertNotEquals(first, second);
        assertEquals(Set.of(first, second), minted.kept.keySet());
    }

    @Test
    void aRequestThatDoesNotFitCreatesNothing() {
        VolumeRequest good = DatasetsWorld.request("user-u1", ALL);
        VolumeRequest writing = new VolumeRequest("pvc-1", good.capacity(), good.parameters(), false, Optional.empty());
        assertThrows(DriverException.InvalidRequest.class, () -> volumes().create(writing));
        VolumeRequest small =
                new VolumeRequest("pvc-1", new CapacityRange(0, 4999), good.parameters(), true, Optional.empty());
        assertThrows(DriverException.CapacityOutOfRange.class, () -> volumes().create(small));
        assertThrows(DriverException.NotFound.class, () -> created(Map.of("dataset", "none")));
        assertThrows(DriverException.AccessDenied.class, () -> created(Map.of("dataset", "vision")));
        assertEquals(Set.of(), minted.kept.keySet());
    }

    @Test
    void aControllerWithoutDatasetsSaysSo() {
        VolumeId.DatasetVolume known = created(ALL);
        Volumes without = plain().volumes();
        VolumeRequest asking = DatasetsWorld.request("user-u1", ALL);
        String said = assertThrows(DriverException.InvalidRequest.class, () -> without.create(asking))
                .getMessage();
        assertTrue(said.contains("--datasets-file"), said);
        assertThrows(DriverException.InUse.class, () -> without.delete(known));
        assertEquals(Optional.empty(), ClaimedDatasets.NONE.wanted(DatasetsWorld.request("user-u1", Map.of())));
    }

    @Test
    void aDeletedVolumeLosesItsKeyAndTheDatasetStays() {
        VolumeId.DatasetVolume volume = created(ALL);
        for (int time = 0; time < 2; time++) {
            volumes().delete(volume);
            assertEquals(Set.of(), minted.kept.keySet());
        }
        assertTrue(world.ceph.hasDirectory("/datasets/all"));
        assertThrows(DriverException.InUse.class, () -> volumes().delete(volume.withoutClaim()));
    }

    @Test
    void theSecretThatDeletesAHomeChangesNothing() {
        VolumeId.DatasetVolume volume = created(ALL);
        volumes().delete(volume, volume.toString());
        assertEquals(Set.of(), minted.kept.keySet());
    }

    @Test
    void anUnknownVolumeIsNotFound() {
        VolumeId.DatasetVolume unknown = new VolumeId.DatasetVolume(
                InMemoryCeph.CLUSTER,
                InMemoryCeph.FILE_SYSTEM,
                DatasetsWorld.DIGEST.substring(0, 40),
                Optional.empty(),
                "/datasets/none");
        assertThrows(DriverException.NotFound.class, () -> volumes().get(unknown));
        assertThrows(DriverException.NotFound.class, () -> volumes().modify(unknown, mode()));
    }

    private static MutableParameters mode() {
        return new MutableParameters(OptionalLong.empty(), OptionalInt.of(0755));
    }

    @Test
    void nothingChangesADataset() {
        VolumeId.DatasetVolume volume = created(ALL);
        assertThrows(DriverException.InUse.class, () -> volumes().expand(volume, new CapacityRange(1 << 20, 0)));
        assertThrows(DriverException.InvalidRequest.class, () -> volumes().modify(volume, mode()));
        volumes().checkMode(volume, ClaimAccessMode.MULTI_NODE_READER_ONLY);
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> volumes().checkMode(volume, ClaimAccessMode.MULTI_NODE_MULTI_WRITER));
    }
}
