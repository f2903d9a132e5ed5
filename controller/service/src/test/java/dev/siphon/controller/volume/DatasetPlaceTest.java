package dev.siphon.controller.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Packer;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class DatasetPlaceTest {
    @Test
    void nodesKnowWhatItsPackerReadsAndWrites() {
        VolumeId.Provisioned volume =
                (VolumeId.Provisioned) VolumeId.parse("s1:lab:cephfs:a00000000000000000001:v00000000000000000001");
        Snapshots snapshots = new World().domain.snapshots();
        for (SnapshotClass.Modes modes : SnapshotClass.Modes.values()) {
            SnapshotId snapshot = snapshots.toSeal(volume, "snapshot-1", modes);
            DatasetPlace place = new DatasetPlace(snapshot);
            assertEquals(place.packer(), Packer.of(snapshot));
            VolumeContext shown = VolumeContext.fromMap(
                    place.source(),
                    Map.of(
                            "monitors",
                            "10.0.0.1",
                            "dataPath",
                            volume.subvolume() + "/.snap/" + snapshot.name(),
                            "readOnly",
                            "true"));
            assertTrue(Packer.reads(place.packer() + "-x", place.source(), shown));
            VolumeId target = new VolumeId.Static(place.cluster(), place.fileSystem(), place.path());
            assertTrue(Packer.writes(place.packer() + "-x", target, Optional.empty()));
        }
    }
}
