package dev.siphon.controller.recovery;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.controller.volume.KeyMinting;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class RecordWriterTest {
    private final RecoveredWorld world = new RecoveredWorld();

    private Optional<String> written(VolumeId.Provisioned volume) {
        return world.ports
                .files()
                .note(volume.cluster(), volume.fileSystem(), SubvolumeGroup.pathOf(volume), RecordNotes.VOLUME);
    }

    private Optional<String> written(Dataset dataset) {
        return world.ports
                .files()
                .note(InMemoryCeph.CLUSTER, dataset.fileSystem(), dataset.path(), RecordNotes.DATASETS);
    }

    private static VolumeContext context(VolumeId.Provisioned volume) {
        return new VolumeContext(
                List.of("192.0.2.1"),
                volume.fileSystem(),
                SubvolumeGroup.of(volume).path(),
                Optional.of(volume.subvolume()),
                VolumeContext.MounterChoice.AUTO,
                List.of(),
                false,
                Optional.empty(),
                Optional.empty());
    }

    @Test
    void aNewVolumeIsWrittenDownOnceItHasAPersistentVolume() {
        RecordWriter writer = world.writer();
        writer.reconcile();
        VolumeId.Provisioned volume = world.create("pvc-1", "u1", Map.of());
        writer.after(KeyMinting.NONE).made(volume, context(volume), "pvc-1");
        writer.reconcile();
        assertEquals(Optional.empty(), written(volume));
        var _ = world.claimed("pvc-1", "u1", "team");
        writer.reconcile();
        assertEquals(Optional.of(world.text("pvc-1")), written(volume));
    }

    @Test
    void allAreLookedAtWhenTheControllerStartsAndEveryTenMinutes() {
        VolumeId.Provisioned volume = world.claimed("pvc-1", "u1", "team");
        RecordWriter writer = world.writer();
        writer.reconcile();
        assertEquals(Optional.of(world.text("pvc-1")), written(volume));
        String changed = world.text("pvc-1").replace("1Gi", "2Gi");
        world.persistentVolumes.put("pvc-1", new ClusterRecords.VolumeRecord(volume, changed, Map.of()));
        world.now = world.now.plus(RecordWriter.VOLUMES).minusSeconds(1);
        writer.reconcile();
        assertEquals(false, Optional.of(changed).equals(written(volume)));
        world.now = world.now.plusSeconds(1);
        writer.reconcile();
        assertEquals(Optional.of(changed), written(volume));
    }

    @Test
    void aKubernetesThatKnowsNothingTakesNothingAway() {
        VolumeId.Provisioned volume = world.claimed("pvc-1", "u1", "team");
        Dataset dataset = world.dataset("u1.digits", "u1");
        world.declared.put(dataset.name(), dataset);
        world.writer().reconcile();
        Optional<String> before = written(dataset);
        world.loseKubernetes();
        RecordWriter next = world.writer();
        next.reconcile();
        world.now = world.now.plus(RecordWriter.VOLUMES);
        next.reconcile();
        assertEquals(true, written(volume).isPresent());
        assertEquals(true, before.isPresent());
        assertEquals(before, written(dataset));
    }

    @Test
    void aDatasetThatIsDeletedIsNotMadeAnewForItsReaders() {
        Dataset dataset = world.dataset("u1.digits", "u1");
        world.declared.put(dataset.name(), dataset);
        RecordWriter writer = world.writer();
        writer.reconcile();
        assertEquals(true, written(dataset).isPresent());
        world.declared.clear();
        world.now = world.now.plus(RecordWriter.DATASETS);
        writer.reconcile();
        assertEquals(Optional.empty(), written(dataset));
    }

    @Test
    void twoDatasetsOfOneDirectoryAreBothKept() {
        Dataset one = world.dataset("u1.digits", "u1");
        Dataset other = new Dataset(
                "all.digits", one.cluster(), one.fileSystem(), one.path(), one.digest(), one.bytes(), one.readers());
        world.declared.put(one.name(), one);
        world.declared.put(other.name(), other);
        RecordWriter writer = world.writer();
        writer.reconcile();
        DatasetRecords kept = DatasetRecords.parse(written(one).orElseThrow()).orElseThrow();
        assertEquals(
                List.of(other, one),
                kept.all().stream().map(DatasetRecords.DatasetRecord::dataset).toList());
        world.declared.remove(other.name());
        world.now = world.now.plus(Duration.ofMinutes(1));
        writer.reconcile();
        assertEquals(
                List.of(one),
                DatasetRecords.parse(written(one).orElseThrow()).orElseThrow().all().stream()
                        .map(DatasetRecords.DatasetRecord::dataset)
                        .toList());
    }
}
