package dev.siphon.controller.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.audit.Finding.Kind;
import dev.siphon.controller.key.VolumeIdentity;
import dev.siphon.controller.volume.AccountFreeze;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/// Creates each defect by hand on a real cluster, and checks that it is found, repaired, and not found again.
class AuditIT extends OnAuditedCluster {
    private void assertFoundForAPerson(Kind kind) {
        Finding finding = found(kind);
        assertInstanceOf(Repair.ByHand.class, finding.repair(), finding::toString);
        assertEquals(false, cluster.repairs().repair(finding.repair()));
    }

    private void assertWhole(VolumeId.Provisioned id) {
        assertEquals(Subvolume.State.READY, subvolumes.find(id).orElseThrow().state());
    }

    private void writeClone(VolumeId.Provisioned target, String state) throws IOException {
        Path data = Files.createDirectories(
                directory(target).resolve(UUID.randomUUID().toString()));
        String path = SubvolumeGroup.pathOf(target) + "/" + data.getFileName();
        Files.writeString(
                directory(target).resolve(".meta"),
                "[GLOBAL]\nversion = 2\ntype = clone\npath = " + path + "\nstate = " + state + "\n\n"
                        + "[source]\nvolume = cephfs\ngroup = "
                        + SubvolumeGroup.of(volume).name() + "\nsubvolume = "
                        + volume.subvolume() + "\nsnapshot = sgone\n\n");
    }

    @Test
    void aHealthyClusterHasNoFinding() throws IOException {
        Files.writeString(data(volume).resolve("file"), "healthy");
        VolumeId.Provisioned other = cluster.create("healthy-other", "u1");
        SnapshotId snapshot =
                cluster.domain.snapshots().create(volume, "healthy").id();
        ContentSource source = new ContentSource.FromSnapshot(snapshot);
        VolumeId.Provisioned clone = cluster.create("healthy-clone", "u1", false, Optional.of(source));
        VolumeId.Provisioned copy = cluster.create("healthy-copy", "u2", false, Optional.of(source));
        VolumeId.Provisioned shallow = cluster.create("healthy-shallow", "u1", true, Optional.of(source));
        var group = cluster.domain.groupSnapshots().create("healthy", List.of(volume, other));
        VolumeId.Provisioned removed = cluster.create("healthy-removed", "u1");
        SnapshotId kept = cluster.domain.snapshots().create(removed, "kept").id();
        cluster.domain.volumes().delete(removed);

        assertEquals(List.of(), cluster.audit(Duration.ZERO));

        List.of(clone, copy, shallow).forEach(cluster.domain.volumes()::delete);
        cluster.domain
                .groupSnapshots()
                .delete(
                        group.id(),
                        group.snapshots().stream().map(each -> each.id()).toList());
        List.of(snapshot, kept).forEach(cluster.domain.snapshots()::delete);
        cluster.domain.volumes().delete(other);
    }

    @Test
    void whatWasNeverFinishedIsDeleted() throws IOException {
        Files.createDirectories(directory(cluster.group("u1").volume("v" + NAME_OF_NONE))
                .resolve(UUID.randomUUID().toString()));
        assertFoundAndMended(Kind.HALF_MADE);
        subvolumes.create(cluster.group("u1").volume("v" + NAME_OF_NONE), spec(01000));
        // its mode shows that nobody could mount it; the missing key is the second finding
        assertEquals(
                List.of(Kind.HALF_FILLED, Kind.VOLUME_WITHOUT_KEY),
                cluster.defects().stream().map(Finding::kind).toList());
        assertTrue(cluster.repairs().repair(cluster.defects().getFirst().repair()));
    }

    @Test
    void aVolumeWithFilesThatItsOwnerShutsIsKept() throws IOException {
        VolumeId.Provisioned shut = cluster.create("shut", "u1");
        Path precious = Files.writeString(data(shut).resolve("data"), "precious");
        var files = cluster.adapter.ports().files();
        String path = subvolumes.find(shut).orElseThrow().dataPath().orElseThrow();
        files.setMode("lab", shut.fileSystem(), path, 01000);
        Finding remark = cluster.audit(Duration.ZERO).getFirst();
        assertEquals(Kind.CLOSED, remark.kind());
        assertFalse(cluster.repairs().repair(remark.repair()));
        assertEquals(List.of(), cluster.defects());
        // a repeated request by its creator loses nothing either
        assertEquals(shut, cluster.create("shut", "u1"));
        assertEquals("precious", Files.readString(precious));
        cluster.domain.volumes().delete(shut);
    }

    @Test
    void whatHasChangedSinceIsLeftAlone() throws IOException {
        VolumeId.Provisioned half = cluster.group("u1").volume("v" + NAME_OF_NONE);
        Path data = Files.createDirectories(
                directory(half).resolve(UUID.randomUUID().toString()));
        Finding before = found(Kind.HALF_MADE);
        Files.writeString(data.resolve("file"), "somebody's");
        assertThrows(DriverException.InUse.class, () -> cluster.repairs().repair(before.repair()));
        assertTrue(Files.exists(data.resolve("file")));
        Files.delete(data.resolve("file"));
        assertFoundAndMended(Kind.HALF_MADE);
    }

    @Test
    void aLostMetaIsWrittenAnewAndTheFilesStay() throws IOException {
        Path file = Files.writeString(data(volume).resolve("kept"), "through it all");
        Files.delete(directory(volume).resolve(".meta"));
        assertFoundAndMended(Kind.META_LOST);
        assertWhole(volume);
        Files.writeString(directory(volume).resolve(".meta"), "not what it was");
        assertFoundAndMended(Kind.META_LOST);
        assertWhole(volume);

        Files.delete(directory(volume).resolve(".meta"));
        // the mgr now treats it as a legacy subvolume
        var _ = subvolumes.find(volume);
        assertFoundAndMended(Kind.META_LOST);
        assertWhole(volume);
        assertEquals("through it all", Files.readString(file));
        assertEquals(file, data(volume).resolve("kept"));
    }

    @Test
    void aForgedMetaIsPutRight() throws IOException {
        Path meta = directory(volume).resolve(".meta");
        String right = Files.readString(meta);
        Path others = data(cluster.create("audited", "u2"));
        String elsewhere = "/volumes/" + others.subpath(others.getNameCount() - 3, others.getNameCount());
        for (String forged : List.of(
                right.replaceFirst("path = .*", "path = " + elsewhere),
                right.replaceFirst(
                        "path = .*", "path = " + SubvolumeGroup.of(volume).path() + "/../x"),
                right.replaceFirst("version = .*", "version = 7"),
                right.replaceFirst("state = .*", "state = odd"))) {
            Files.writeString(meta, forged);
            assertFoundAndMended(Kind.META_FORGED);
            assertWhole(volume);
        }
        assertEquals(MetaText.sorted(right), MetaText.sorted(Files.readString(meta)));
    }

    @Test
    void whatIsNoDataDirectoryIsFound() throws IOException {
        Path data = data(volume);
        Path aside = data.resolveSibling("aside");
        Files.move(data, aside);
        Files.createSymbolicLink(data, Path.of("/volumes"));
        assertEquals(
                List.of(Kind.DATA_MISSING, Kind.STRAY_FILES),
                cluster.defects().stream().map(Finding::kind).toList());
        Files.delete(data);
        Files.move(aside, data);

        Path second =
                Files.createDirectory(data.resolveSibling(UUID.randomUUID().toString()));
        Files.writeString(second.resolve("file"), "whose?");
        assertFoundForAPerson(Kind.DATA_SEVERAL);
        Files.delete(second.resolve("file"));
        assertFoundAndMended(Kind.DATA_SEVERAL);
    }

    @Test
    void whatIsNobodysIsFound() throws IOException {
        Path stranger = Files.createDirectory(admin.at(cluster.group("u1").path() + "/stranger"));
        assertFoundForAPerson(Kind.UNKNOWN_ENTRY);
        Files.delete(stranger);
        Path link = Files.createSymbolicLink(
                directory(cluster.group("u1").volume("v" + NAME_OF_NONE)), Path.of("/volumes"));
        assertFoundForAPerson(Kind.NOT_A_DIRECTORY);
        Files.delete(link);
        String left = "/volumes/_" + cluster.group("u1").name() + ":v" + NAME_OF_NONE + ".meta";
        Files.writeString(admin.at(left), "{}");
        assertFoundAndMended(Kind.AUTH_FILE_LEFT);
    }

    @Test
    void clonesThatWillNeverEndAreEnded() throws IOException {
        for (String state : List.of("failed", "canceled")) {
            writeClone(filled(), state);
            assertFoundAndMended(Kind.CLONE_ENDED);
        }
        writeClone(filled(), "pending");
        assertFoundAndMended(Kind.CLONE_STUCK);
        assertEquals(Optional.empty(), subvolumes.find(filled()));
    }

    @Test
    void aVolumeThatIsNotKnownToBeWholeIsDeleted() {
        subvolumes.create(filled(), spec(0700));
        cluster.keys.mintNow(filled());
        cluster.persistentVolumes.add(filled());
        assertEquals(List.of(), cluster.audit(Duration.ofHours(1)));
        Finding found = found(Kind.HALF_FILLED);
        assertThrows(DriverException.InUse.class, () -> cluster.repairs().repair(found.repair()));
        assertWhole(filled());
        cluster.persistentVolumes.remove(filled());
        assertFoundAndMended(Kind.HALF_FILLED);
    }

    @Test
    void snapshotsForNothingAreReleased() throws IOException {
        SnapshotId transfer = new SnapshotId(volume, CephNames.transferSnapshot("nothing"));
        subvolumes.createSnapshot(transfer);
        assertFoundAndMended(Kind.TRANSFER_LEFT);

        SnapshotId held = cluster.domain.snapshots().create(volume, "held").id();
        Path meta = directory(volume).resolve(".meta");
        Files.writeString(
                meta, Files.readString(meta) + "[clone snaps]\n" + UUID.randomUUID() + " = " + held.name() + "\n\n");
        assertThrows(DriverException.OperationPending.class, () -> subvolumes.removeSnapshot(held));
        assertFoundAndMended(Kind.SNAPSHOT_HELD);
        cluster.domain.snapshots().delete(held);
    }

    @Test
    void volumesOfSnapshotsThatAreGoneAreFound() {
        VolumeId.Provisioned shallow = cluster.group("u1").volume("r" + NAME_OF_NONE + "klm");
        subvolumes.create(shallow, spec(0700));
        cluster.keys.mintNow(shallow);
        assertFoundForAPerson(Kind.SNAPSHOT_GONE);
        cluster.domain.volumes().delete(shallow);

        VolumeId.Provisioned other = cluster.create("in-a-group", "u1");
        var group = cluster.domain.groupSnapshots().create("torn", List.of(volume, other));
        subvolumes.removeSnapshot(new SnapshotId(other, group.id().snapshot()));
        assertFoundForAPerson(Kind.GROUP_SNAPSHOT_INCOMPLETE);
        subvolumes.removeSnapshot(new SnapshotId(volume, group.id().snapshot()));
        cluster.domain.volumes().delete(other);
    }

    @Test
    void keysAndVolumesAreBroughtTogether() {
        VolumeId.Provisioned gone = cluster.group("u1").volume("v" + NAME_OF_NONE);
        var key = cluster.store.find(volume).orElseThrow();
        cluster.store.put(gone, key);
        assertFoundAndMended(Kind.KEY_WITHOUT_VOLUME);
        var volumeCaps = new dev.siphon.controller.key.VolumeCaps(
                gone.fileSystem(), SubvolumeGroup.of(gone).path(), Optional.empty(), "pool", "namespace");
        var _ = cluster.adapter
                .identities()
                .mint("lab", VolumeIdentity.first(gone).userId(), volumeCaps);
        assertFoundAndMended(Kind.IDENTITY_WITHOUT_VOLUME);

        cluster.store.remove(volume);
        assertFoundAndMended(Kind.VOLUME_WITHOUT_KEY);
        assertEquals(key, cluster.store.find(volume).orElseThrow());
        cluster.adapter.identities().remove("lab", key.userId());
        assertFoundAndMended(Kind.VOLUME_WITHOUT_KEY);
    }

    @Test
    void identitiesBesideTheOneInUseAreFound() {
        VolumeIdentity first = VolumeIdentity.first(volume);
        var second = cluster.adapter
                .identities()
                .mintNew(
                        "lab",
                        first.userId() + ".2",
                        cluster.adapter
                                .identities()
                                .minted("lab", first.userId())
                                .getFirst()
                                .caps());
        assertFoundForAPerson(Kind.IDENTITY_NOT_KEPT);
        cluster.store.put(volume, second);
        Finding remark = cluster.audit(Duration.ZERO).getFirst();
        assertEquals(Kind.IDENTITY_REPLACED, remark.kind());
        assertTrue(remark.object().endsWith(first.userId()), remark::toString);
        cluster.adapter.identities().remove("lab", first.userId());
        assertEquals(List.of(), cluster.audit(Duration.ZERO));
    }

    @Test
    void aVolumeWithoutPersistentVolumeIsNoDefect() {
        assertEquals(
                List.of(),
                cluster.audit(Duration.ZERO).stream().map(Finding::kind).toList());
        cluster.persistentVolumes.remove(volume);
        Finding remark = cluster.audit(Duration.ZERO).getFirst();
        cluster.persistentVolumes.add(volume);
        assertEquals(Kind.VOLUME_WITHOUT_PV, remark.kind());
        assertEquals(volume.toString(), remark.object());
        assertEquals(false, cluster.repairs().repair(remark.repair()));
    }

    @Test
    void anEmptyVolumeThatNobodyHasIsAnOrphan() {
        VolumeId.Provisioned left = cluster.create("left", "u1");
        cluster.persistentVolumes.remove(left);
        assertEquals(
                List.of(Kind.VOLUME_WITHOUT_PV),
                cluster.audit(Duration.ZERO).stream().map(Finding::kind).toList());
        Finding orphan = cluster.audit(Duration.ZERO, Duration.ZERO).getFirst();
        assertEquals(Kind.ORPHAN, orphan.kind());
        assertTrue(cluster.repairs().repair(orphan.repair()), orphan::toString);
        assertEquals(Optional.empty(), cluster.adapter.ports().subvolumes().find(left));
    }

    @Test
    void groupsAreComparedWithTheirAccounts() {
        SubvolumeGroup group = cluster.group("u2");
        var files = cluster.adapter.ports().files();
        files.setNote("lab", group.fileSystem(), group.path(), "account", cluster.firstUid + 1 + " u2");
        files.setQuotaBytes("lab", group.fileSystem(), group.path(), 5L << 30);
        assertFoundAndMended(Kind.QUOTA_DRIFT);
        assertEquals(OptionalLong.of(100L << 30), files.quotaBytes("lab", group.fileSystem(), group.path()));

        var account = Optional.ofNullable(cluster.accounts.remove("u2")).orElseThrow();
        files.setNote("lab", group.fileSystem(), group.path(), AccountFreeze.NOTE, "2026-01-01T00:00:00Z");
        List<Finding> remarks = cluster.audit(Duration.ZERO);
        assertEquals(
                List.of(Kind.ACCOUNT_GONE, Kind.FROZEN),
                remarks.stream().map(Finding::kind).toList());
        cluster.accounts.put("u2", account);
        files.setNote("lab", group.fileSystem(), group.path(), AccountFreeze.NOTE, "");
    }
}
