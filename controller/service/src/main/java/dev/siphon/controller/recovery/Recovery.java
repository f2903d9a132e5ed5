package dev.siphon.controller.recovery;

import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.key.SnapshotSearch;
import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.controller.volume.Homes;
import dev.siphon.controller.volume.SnapshotClass;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.SubvolumeMetadata;
import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.controller.volume.Volumes;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;

/// Rebuilds the objects of a lost Kubernetes from what Ceph has. Only reads: some mgr commands per volume, and one
/// per snapshot.
public final class Recovery {
    private final CephPorts ceph;
    private final AccountDirectory directory;
    private final Set<VolumeId.Provisioned> standing;
    private final VolumeDocuments volumes;
    private final SnapshotDocuments snapshots;

    /// Selects what to rebuild.
    ///
    /// @param account only what belongs to this account; empty for all
    /// @param namespace only what is known to have been in this namespace; empty for all
    public record Wanted(Optional<String> account, Optional<String> namespace) {
        private boolean isAccount(AccountNote owner) {
            return account.isEmpty() || account.get().equals(owner.name());
        }

        private boolean isNamespace(Optional<String> known) {
            return namespace.isEmpty() || namespace.equals(known);
        }
    }

    /// The installed driver.
    ///
    /// @param driver the CSI driver's name
    /// @param namespace the driver's
    public record Installed(String driver, String namespace) {}

    /// @param directory resolves the names of readers
    /// @param standing the volumes that have a PersistentVolume; they are skipped
    public Recovery(
            CephPorts ceph, AccountDirectory directory, Set<VolumeId.Provisioned> standing, Installed installed) {
        this.ceph = ceph;
        this.directory = directory;
        this.standing = Set.copyOf(standing);
        this.volumes = new VolumeDocuments(installed.driver(), installed.namespace());
        this.snapshots = new SnapshotDocuments(installed.driver());
    }

    /// Passes each PersistentVolume to `each`.
    public void volumes(Wanted wanted, Consumer<Document> each) {
        eachGroup(wanted, (group, owner) -> {
            for (VolumeId.Provisioned volume : volumesOf(group)) {
                if (!Homes.isHome(volume) && !standing.contains(volume)) {
                    volume(volume, owner, wanted, each);
                }
            }
        });
    }

    private void volume(VolumeId.Provisioned volume, AccountNote owner, Wanted wanted, Consumer<Document> each) {
        Optional<Subvolume> found =
                ceph.subvolumes().find(volume).filter(there -> there.state() == Subvolume.State.READY);
        if (found.isEmpty()) {
            return;
        }
        Optional<VolumeDocuments.Recorded> recorded =
                note(volume, RecordNotes.VOLUME).flatMap(text -> VolumeDocuments.recorded(volume, text));
        if (!wanted.isNamespace(recorded.flatMap(VolumeDocuments.Recorded::namespace))) {
            return;
        }
        if (recorded.isPresent()) {
            each.accept(VolumeDocuments.document(recorded.get(), found.get().quotaBytes()));
        } else if (isWhole(volume)) {
            each.accept(assumed(volume, owner, found.get()));
        }
    }

    private boolean isWhole(VolumeId.Provisioned volume) {
        return !CephNames.kindOf(volume.subvolume()).equals(Optional.of(CephNames.Kind.FILLED))
                || ceph.subvolumes().notes(volume).containsKey(SubvolumeMetadata.SOURCE);
    }

    private Document assumed(VolumeId.Provisioned volume, AccountNote owner, Subvolume found) {
        boolean readOnly = Volumes.isReadOnly(volume);
        Optional<String> data = readOnly
                ? new SnapshotSearch(ceph.subvolumes())
                        .of(volume)
                        .map(snapshot -> snapshot.volume().subvolume() + "/.snap/" + snapshot.name())
                : Optional.of(Homes.behind(volume).subvolume());
        if (data.isEmpty()) {
            return Document.remark("volume " + volume + " of account " + owner.name()
                    + " stands for a snapshot that was not found: it cannot be recovered");
        }
        OptionalLong bytes = found.quotaBytes().isPresent()
                ? found.quotaBytes()
                : ceph.subvolumes()
                        .find(Homes.behind(volume))
                        .map(Subvolume::quotaBytes)
                        .orElse(OptionalLong.empty());
        VolumeContext context = new VolumeContext(
                ceph.clusters().monitors(volume.cluster()),
                volume.fileSystem(),
                SubvolumeGroup.of(volume).path(),
                data,
                VolumeContext.MounterChoice.AUTO,
                List.of(),
                readOnly,
                Optional.of(owner.name()),
                Optional.empty());
        return volumes.assumed(volume, context, bytes.orElse(1L << 30));
    }

    /// Passes each VolumeSnapshot to `each`, with the VolumeSnapshotContent that it is bound to.
    public void snapshots(Wanted wanted, Consumer<Document> each) {
        eachSnapshot(wanted, (snapshot, owner) -> {
            Optional<RecordNotes.RecordedSnapshot> asked = asked(snapshot);
            if (asked.isPresent() && wanted.isNamespace(asked.map(RecordNotes.RecordedSnapshot::namespace))) {
                snapshots.of(snapshot, asked.get()).forEach(each);
            } else if (asked.isEmpty() && wanted.namespace().isEmpty()) {
                each.accept(Document.remark(
                        "snapshot " + snapshot + " of account " + owner.name() + ": its VolumeSnapshot is not known"));
            }
        });
    }

    private Optional<RecordNotes.RecordedSnapshot> asked(SnapshotId snapshot) {
        return note(snapshot.volume(), RecordNotes.ofSnapshot(snapshot.name()))
                .flatMap(RecordNotes.RecordedSnapshot::parse)
                .or(() -> DatasetPlace.of(snapshot)
                        .flatMap(place -> place.note(ceph.files(), DatasetPlace.ASKED))
                        .flatMap(SnapshotClass.SnapshotRequest::parse)
                        .map(image ->
                                new RecordNotes.RecordedSnapshot(image.namespace(), image.name(), "siphon-dataset")));
    }

    /// Passes each Dataset to `each`.
    public void datasets(Wanted wanted, Consumer<Document> each) {
        DatasetDocuments documents = new DatasetDocuments(ceph, directory);
        if (wanted.namespace().isEmpty()) {
            documents.declared(
                    dataset -> wanted.account().isEmpty() || wanted.account().equals(dataset), each);
        }
        eachSnapshot(wanted, (snapshot, owner) -> {
            if (wanted.isNamespace(asked(snapshot).map(RecordNotes.RecordedSnapshot::namespace))) {
                documents.sealed(snapshot, owner.name()).ifPresent(each);
            }
        });
    }

    private Optional<String> note(VolumeId.Provisioned volume, String name) {
        return ceph.files().note(volume.cluster(), volume.fileSystem(), SubvolumeGroup.pathOf(volume), name);
    }

    /// Handles one group and its owner.
    @FunctionalInterface
    private interface OfGroup {
        void accept(SubvolumeGroup group, AccountNote owner);
    }

    @FunctionalInterface
    private interface OfSnapshot {
        void accept(SnapshotId snapshot, AccountNote owner);
    }

    private void eachGroup(Wanted wanted, OfGroup each) {
        for (String cluster : ceph.clusters().ids()) {
            for (Clusters.FileSystem fileSystem : ceph.clusters().fileSystems(cluster)) {
                for (String name : ceph.subvolumes().groups(cluster, fileSystem.name())) {
                    SubvolumeGroup group = new SubvolumeGroup(cluster, fileSystem.name(), name);
                    AccountNote owner = Volumes.isOurs(group) ? owner(group) : new AccountNote("", "");
                    if (Volumes.isOurs(group) && wanted.isAccount(owner)) {
                        each.accept(group, owner);
                    }
                }
            }
        }
    }

    private AccountNote owner(SubvolumeGroup group) {
        return ceph.files()
                .note(group.cluster(), group.fileSystem(), group.path(), AccountNote.NAME)
                .flatMap(AccountNote::parse)
                .orElseGet(() -> new AccountNote("?", group.name()));
    }

    private List<VolumeId.Provisioned> volumesOf(SubvolumeGroup group) {
        return ceph.subvolumes().list(group).orElse(List.of()).stream()
                .filter(name -> CephNames.kindOf(name).isPresent())
                .map(group::volume)
                .toList();
    }

    /// Visits each snapshot, also of deleted volumes. Skips those of group snapshots: nothing records their group
    /// object.
    private void eachSnapshot(Wanted wanted, OfSnapshot each) {
        eachGroup(
                wanted,
                (group, owner) -> volumesOf(group).forEach(volume -> {
                    try {
                        ceph.subvolumes().snapshots(volume).stream()
                                .filter(VolumeId.Part.SNAPSHOT::fits)
                                .map(name -> new SnapshotId(volume, name))
                                .filter(CephNames::isForCallers)
                                .filter(snapshot -> !CephNames.isGroupSnapshot(snapshot.name()))
                                .forEach(snapshot -> each.accept(snapshot, owner));
                    } catch (DriverException.NotFound _) {
                        // removed meanwhile
                    }
                }));
    }
}
