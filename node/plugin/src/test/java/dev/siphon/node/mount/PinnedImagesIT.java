package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.Workplace;
import dev.siphon.node.replica.TestDataset;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// One image that several orders need: real mounts, without Ceph.
class PinnedImagesIT {
    private static final Duration LONG = Duration.ofSeconds(20);

    private final Workplace workplace = Workplace.create();
    private final BlockingCalls calls = new BlockingCalls();
    private final TestDataset dataset = TestDataset.create(workplace, "one", 3, 10_000);
    private final NodeVolumes volumes = OverlayMounter.volumes(workplace, calls, LONG);

    @AfterEach
    void leaveNothing() {
        workplace.close();
        calls.close();
    }

    /// Returns the dataset at this path.
    private VolumeId.DatasetVolume at(String name) throws IOException {
        Path folder = workplace.directory("cluster/fs/datasets/" + name);
        Path image = dataset.image().image();
        for (String file : List.of("image", "image.manifest")) {
            Path there = folder.resolve(file);
            if (Files.notExists(there)) {
                Files.copy(image.resolveSibling(file), there);
            }
        }
        return new VolumeId.DatasetVolume(
                "lab", "fs", dataset.digest().beginning(), Optional.empty(), "/datasets/" + name);
    }

    private void hold(VolumeId.DatasetVolume volume, String holder) {
        assertEquals(
                dataset.digest(),
                volumes.pin(
                        volume,
                        holder,
                        VolumeContext.fromMap(volume, Map.of("monitors", "10.0.0.1:3300")),
                        MounterContract.credentials("u", CephCredentialsTest.AES_KEY),
                        LONG));
    }

    private long mounted() {
        return MountTable.read().entries().stream()
                .filter(entry ->
                        entry.mountPoint().startsWith(workplace.path("state").toString()))
                .filter(entry -> entry.mountPoint().endsWith(dataset.digest().beginning()))
                .count();
    }

    @Test
    void anImageStaysUntilTheLastHasLetGo() throws IOException {
        VolumeId.DatasetVolume volume = at("x");
        hold(volume, "a");
        hold(volume, "b");
        hold(volume, "b");
        volumes.unpin(volume, "c", LONG);
        volumes.unpin(volume, "b", LONG);
        volumes.unpin(volume, "b", LONG);
        assertEquals(1, mounted());
        volumes.unpin(volume, "a", LONG);
        assertEquals(0, mounted());
    }

    @Test
    void whoCannotHoldItTakesItFromNobody() throws IOException {
        VolumeId.DatasetVolume volume = at("x");
        VolumeId.DatasetVolume elsewhere = at("y");
        hold(volume, "a");
        assertThrows(DriverException.class, () -> hold(elsewhere, "b"));
        assertEquals(1, mounted());
        volumes.unpin(volume, "a", LONG);
        assertEquals(0, mounted());
        hold(elsewhere, "b");
        volumes.unpin(elsewhere, "b", LONG);
        assertEquals(0, mounted());
    }
}
