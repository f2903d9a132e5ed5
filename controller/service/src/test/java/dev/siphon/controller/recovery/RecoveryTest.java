package dev.siphon.controller.recovery;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import dev.siphon.controller.dataset.ReaderIds;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.recovery.Recovery.Wanted;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

final class RecoveryTest {
    private static final Wanted ALL = new Wanted(Optional.empty(), Optional.empty());

    private final RecoveredWorld world = new RecoveredWorld();

    private List<Document> volumes(Wanted wanted) {
        List<Document> found = new ArrayList<>();
        world.recovery().volumes(wanted, found::add);
        return found;
    }

    private static Set<String> handles(List<Document> documents) {
        return documents.stream()
                .map(document -> spec(document)
                        .getAsJsonObject("csi")
                        .get("volumeHandle")
                        .getAsString())
                .collect(Collectors.toSet());
    }

    private static JsonObject spec(Document document) {
        return document.object().getAsJsonObject("spec");
    }

    private void loseKubernetes() {
        world.writer().reconcile();
        world.loseKubernetes();
    }

    @Test
    void aPersistentVolumeIsPrintedAsItWasWithTheSizeOfNow() {
        VolumeId.Provisioned volume = world.claimed("pvc-1", "u1", "team");
        String before = world.text("pvc-1");
        loseKubernetes();

        assertEquals(
                List.of(before),
                volumes(ALL).stream().map(each -> each.object().toString()).toList());
        assertEquals(
                List.of(List.of()),
                volumes(ALL).stream().map(Document::comments).toList());
        long _ = world.domain.volumes().expand(volume, new CapacityRange(3 * RecoveredWorld.GIB, 0));
        assertEquals(
                List.of("3221225472"),
                volumes(ALL).stream()
                        .map(each -> spec(each)
                                .getAsJsonObject("capacity")
                                .get("storage")
                                .getAsString())
                        .toList());
    }

    @Test
    void onlyWhatIsWantedIsPrintedAndNothingTwice() {
        VolumeId.Provisioned first = world.claimed("pvc-1", "u1", "team");
        VolumeId.Provisioned second = world.claimed("pvc-2", "u1", "other");
        VolumeId.Provisioned third = world.claimed("pvc-3", "u2", "team");
        loseKubernetes();

        assertEquals(ids(first, second, third), handles(volumes(ALL)));
        assertEquals(ids(first, second), handles(volumes(new Wanted(Optional.of("u1"), Optional.empty()))));
        assertEquals(ids(first, third), handles(volumes(new Wanted(Optional.empty(), Optional.of("team")))));
        assertEquals(ids(first), handles(volumes(new Wanted(Optional.of("u1"), Optional.of("team")))));
        world.standing.add(first);
        assertEquals(ids(second, third), handles(volumes(ALL)));
    }

    private static Set<String> ids(VolumeId.Provisioned... volumes) {
        return List.of(volumes).stream().map(VolumeId.Provisioned::toString).collect(Collectors.toSet());
    }

    @Test
    void ofAVolumeThatNobodyHasWrittenDownWhatIsNotKnownIsSaid() {
        VolumeId.Provisioned volume = world.create("pvc-1", "u1", Map.of());

        Document printed = volumes(ALL).getFirst();
        JsonObject csi = spec(printed).getAsJsonObject("csi");
        assertEquals(volume.toString(), csi.get("volumeHandle").getAsString());
        assertEquals("u1", csi.getAsJsonObject("volumeAttributes").get("owner").getAsString());
        String name = printed.object().getAsJsonObject("metadata").get("name").getAsString();
        assertEquals(name, csi.getAsJsonObject("nodeStageSecretRef").get("name").getAsString());
        assertEquals(
                "Retain", spec(printed).get("persistentVolumeReclaimPolicy").getAsString());
        assertEquals(false, spec(printed).has("claimRef"));
        assertTrue(printed.text().contains("\n# volume of account u1: its claim is not known"), printed::text);
        assertEquals(List.of(), volumes(new Wanted(Optional.empty(), Optional.of("team"))));
    }

    @Test
    void aHomeIsMountedByWhatStandsForItAndIsNoVolumeItself() {
        VolumeId.Provisioned alias = world.create("pvc-1", "u1", Map.of("kind", "home"));

        List<Document> printed = volumes(ALL);
        assertEquals(ids(alias), handles(printed));
        assertEquals(
                "siphon-home", spec(printed.getFirst()).get("storageClassName").getAsString());
        assertEquals(
                Long.toString(RecoveredWorld.GIB),
                spec(printed.getFirst())
                        .getAsJsonObject("capacity")
                        .get("storage")
                        .getAsString());
    }

    @Test
    void aRecordOfAnotherVolumeIsNotBelieved() {
        VolumeId.Provisioned one = world.claimed("pvc-1", "u1", "team");
        VolumeId.Provisioned other = world.create("pvc-2", "u2", Map.of());
        world.ports
                .files()
                .setNote(
                        other.cluster(),
                        other.fileSystem(),
                        SubvolumeGroup.pathOf(other),
                        RecordNotes.VOLUME,
                        world.text("pvc-1"));
        loseKubernetes();

        assertEquals(ids(one, other), handles(volumes(ALL)));
        assertEquals(ids(other), handles(volumes(new Wanted(Optional.of("u2"), Optional.empty()))));
    }

    @Test
    void aDatasetHasTheReadersWhoseNamesStillMeanWhomTheyMeant() {
        world.declared.put("u1.digits", world.dataset("u1.digits", "u1", "u2", "group:vision"));
        world.meant.put(
                "u1.digits",
                new ReaderIds(
                        Map.of("u1", SubvolumeGroup.nameOf(RecoveredWorld.account("u1")), "u2", "a".repeat(21)),
                        Set.of()));
        loseKubernetes();

        List<Document> printed = new ArrayList<>();
        world.recovery().datasets(ALL, printed::add);
        assertEquals(1, printed.size());
        assertEquals(
                "[\"group:vision\",\"u1\"]",
                spec(printed.getFirst()).getAsJsonArray("readers").toString());
        assertTrue(printed.getFirst().text().contains("# left out reader u2: "), printed.getFirst()::text);
    }

    @Test
    void whileTheDirectoryIsSilentNoReaderIsTakenForWhomItMeant() {
        world.declared.put("u1.digits", world.dataset("u1.digits", "u1"));
        world.meant.put(
                "u1.digits",
                new ReaderIds(Map.of("u1", SubvolumeGroup.nameOf(RecoveredWorld.account("u1"))), Set.of()));
        loseKubernetes();
        world.directory.down(true);

        List<Document> printed = new ArrayList<>();
        world.recovery().datasets(ALL, printed::add);
        assertEquals("[]", spec(printed.getFirst()).getAsJsonArray("readers").toString());
    }

    @Test
    void aSnapshotIsBoundToItsVolumeSnapshotAndOneThatNobodyKnowsIsNamed() {
        VolumeId.Provisioned volume = world.claimed("pvc-1", "u1", "team");
        SnapshotId known = world.domain.snapshots().create(volume, "snapshot-1").id();
        SnapshotId unknown =
                world.domain.snapshots().create(volume, "snapshot-2").id();
        world.snapshots.add(new ClusterRecords.SnapshotRecord(known, "team", "before", "siphon"));
        loseKubernetes();

        List<Document> printed = new ArrayList<>();
        world.recovery().snapshots(ALL, printed::add);
        assertEquals(
                1,
                printed.stream()
                        .filter(each -> each.object().isEmpty() && each.text().contains(unknown.toString()))
                        .count());
        JsonObject content = printed.stream()
                .filter(each -> each.text().contains("kind: VolumeSnapshotContent\n"))
                .findFirst()
                .orElseThrow()
                .object();
        JsonObject spec = content.getAsJsonObject("spec");
        assertEquals(
                known.toString(),
                spec.getAsJsonObject("source").get("snapshotHandle").getAsString());
        assertEquals(
                "{\"namespace\":\"team\",\"name\":\"before\"}",
                spec.getAsJsonObject("volumeSnapshotRef").toString());
        assertEquals(3, printed.size());
    }

    @Test
    void anAccountThatIsGoneIsPrintedUnderTheNameThatItHad() {
        VolumeId.Provisioned volume = world.create("pvc-1", "u1", Map.of());
        world.directory.put(new Account("u1", "another", 7, 7, Set.of(), OptionalLong.empty()));

        assertEquals(ids(volume), handles(volumes(new Wanted(Optional.of("u1"), Optional.empty()))));
    }
}
