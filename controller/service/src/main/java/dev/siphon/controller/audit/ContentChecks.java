package dev.siphon.controller.audit;

import dev.siphon.controller.audit.FileSystemScan.ScannedEntry;
import dev.siphon.controller.audit.Finding.Kind;
import dev.siphon.controller.audit.VolumeChecks.SubvolumeState;
import dev.siphon.controller.audit.VolumesDirectory.FileKind;
import dev.siphon.controller.audit.VolumesDirectory.Meta;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.Homes;
import dev.siphon.controller.volume.SubvolumeMetadata;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// Checks where contents come from: unfinished clones and copies, snapshots taken for them, and volumes that show
/// a snapshot.
final class ContentChecks {
    /// The mode of a volume whose creation stopped before its file limit was set, see `StoredKind`.
    /// Owners can set this mode too. An unfinished volume was never returned to a caller, so one with files must
    /// have been finished.
    private static final int UNFINISHED = 01000;

    private final FileSystemScan scan;
    private final GracePeriods gracePeriods;
    private final List<ScannedEntry> volumes;
    private final Set<String> transfers;

    ContentChecks(FileSystemScan scan, GracePeriods gracePeriods) {
        this.scan = scan;
        this.gracePeriods = gracePeriods;
        this.volumes = scan.places().filter(ContentChecks::isVolume).toList();
        this.transfers = volumes.stream()
                .filter(place -> isKind(place, CephNames.Kind.FILLED) && !isWhole(place))
                .map(place -> CephNames.transferSnapshot(place.entry().name()))
                .collect(Collectors.toUnmodifiableSet());
    }

    private static boolean isVolume(ScannedEntry place) {
        return place.entry().kind() == FileKind.DIRECTORY
                && place.id().flatMap(id -> CephNames.kindOf(id.subvolume())).isPresent();
    }

    /// Returns all defects of contents in the file system.
    List<Finding> all() {
        List<Finding> found = new ArrayList<>();
        for (ScannedEntry place : volumes) {
            found.addAll(ofVolume(place));
            found.addAll(ofSnapshots(place));
        }
        found.addAll(clonesWithoutTarget());
        found.addAll(incompleteGroups());
        return found;
    }

    private List<Finding> ofVolume(ScannedEntry place) {
        Optional<SubvolumeState> state = meta(place).flatMap(meta -> SubvolumeState.of(meta.global("state")));
        VolumeId.Provisioned id = place.id().orElseThrow();
        if (state.isEmpty()) {
            return List.of();
        }
        return switch (state.get()) {
            case FAILED, CANCELED ->
                List.of(finding(
                        Kind.CLONE_ENDED,
                        place,
                        "is the target of a clone that ended as " + state.get().text(),
                        VolumeChecks.deleted(id, place.entry())));
            case PENDING, IN_PROGRESS ->
                scan.top().clones().containsValue(place.path())
                        ? List.of()
                        : List.of(finding(
                                Kind.CLONE_STUCK,
                                place,
                                "is the target of a clone that the mgr no longer knows",
                                stuck(place, id)));
            case COMPLETE -> ofComplete(place, id);
        };
    }

    private static Repair stuck(ScannedEntry place, VolumeId.Provisioned id) {
        return VolumeChecks.hasNoFiles(place.entry())
                ? new Repair.EndClone(
                        id,
                        place.entry(),
                        meta(place).orElseThrow().with(MetaFile.GLOBAL, "state", SubvolumeState.FAILED.text()))
                : new Repair.ByHand("it holds files: check them; if nobody needs them, write state = failed in "
                        + place.path() + "/.meta, then `siphon csi DeleteVolume`");
    }

    private List<Finding> ofComplete(ScannedEntry place, VolumeId.Provisioned id) {
        boolean old = place.entry().changed().plus(gracePeriods.filling()).isBefore(scan.at());
        boolean closed = isClosed(place);
        boolean notWhole = isKind(place, CephNames.Kind.FILLED) && !isWhole(place);
        if (closed && !VolumeChecks.hasNoFiles(place.entry())) {
            return List.of(finding(
                    Kind.CLOSED,
                    place,
                    "has files, and mode 1000, which lets nobody in: somebody set that mode",
                    new Repair.ByHand("its owner may chmod its top directory back, for example to 0700")));
        }
        if (old && (closed || notWhole)) {
            String since = " since " + place.entry().changed();
            return List.of(finding(
                    Kind.HALF_FILLED,
                    place,
                    closed ? "was not finished" + since : "is not known to be whole" + since,
                    VolumeChecks.deleted(id, place.entry())));
        }
        if (Homes.isAlias(id)
                && scan.at(place.group().path() + "/" + Homes.of(place.group()).subvolume())
                        .isEmpty()) {
            return List.of(finding(
                    Kind.HOME_GONE,
                    place,
                    "stands for a home that is gone",
                    new Repair.ByHand("delete the volume, which holds nothing")));
        }
        if (isKind(place, CephNames.Kind.SHALLOW) && standsFor(place).isEmpty()) {
            return List.of(finding(
                    Kind.SNAPSHOT_GONE,
                    place,
                    "stands for a snapshot that is gone",
                    new Repair.ByHand("delete the volume, which holds nothing")));
        }
        return List.of();
    }

    /// Returns whether the volume has the mode of an unfinished one, and is of a kind that uses it. A volume
    /// filled from elsewhere has a note instead, which volume keys cannot write.
    private static boolean isClosed(ScannedEntry place) {
        return (isKind(place, CephNames.Kind.PLAIN) || isKind(place, CephNames.Kind.HOME))
                && place.entry().data().stream().anyMatch(data -> data.mode() == UNFINISHED);
    }

    /// Returns the snapshot that a volume without contents shows.
    private Optional<SnapshotId> standsFor(ScannedEntry shallow) {
        return volumes.stream()
                .filter(place -> place.group().equals(shallow.group()))
                .flatMap(place -> snapshots(place).stream())
                .filter(id -> shallow.entry().name().endsWith(CephNames.shallowSuffix(id)))
                .findFirst();
    }

    private List<Finding> ofSnapshots(ScannedEntry place) {
        List<Finding> found = new ArrayList<>();
        for (SnapshotId id : snapshots(place)) {
            boolean exporting = CephNames.exportBegun(id.name())
                    .filter(begun -> begun.plus(gracePeriods.filling()).isAfter(scan.at()))
                    .isPresent();
            if (CephNames.isTransferSnapshot(id.name()) && !transfers.contains(id.name()) && !exporting) {
                found.add(new Finding(
                        Kind.TRANSFER_LEFT,
                        id.toString(),
                        "was taken for a copy or an export that is over",
                        new Repair.RemoveSnapshot(id)));
            }
        }
        Map<String, String> held =
                meta(place).map(meta -> meta.sections().get(MetaFile.CLONED)).orElse(Map.of());
        held.forEach((tracking, snapshot) -> {
            if (!scan.top().clones().containsKey(tracking)) {
                found.add(new Finding(
                        Kind.SNAPSHOT_HELD,
                        place.id().orElseThrow() + "@" + snapshot + " for " + tracking,
                        "is kept for a clone that the mgr does not know",
                        new Repair.WriteMeta(
                                place.id().orElseThrow(),
                                place.entry(),
                                meta(place).orElseThrow().without(MetaFile.CLONED, tracking),
                                "")));
            }
        });
        return found;
    }

    private List<Finding> clonesWithoutTarget() {
        List<Finding> found = new ArrayList<>();
        scan.top().clones().forEach((tracking, target) -> {
            boolean ours = scan.groups().values().stream()
                    .anyMatch(seen -> target.startsWith(seen.group().path() + "/"));
            if (ours && scan.at(target).isEmpty()) {
                String link = "/volumes/_index/clone/" + tracking;
                found.add(new Finding(
                        Kind.CLONE_WITHOUT_TARGET,
                        scan.cluster() + ":" + scan.fileSystem() + ":" + link,
                        "is for a clone into " + target + ", which is gone",
                        new Repair.RemoveFile(scan.cluster(), scan.fileSystem(), link)));
            }
        });
        return found;
    }

    /// Finds incomplete groups of snapshots; a group's name shows which volumes belong to it.
    private List<Finding> incompleteGroups() {
        Map<String, List<VolumeId.Provisioned>> members = new TreeMap<>();
        for (ScannedEntry place : volumes) {
            for (SnapshotId id : snapshots(place)) {
                if (CephNames.isGroupSnapshot(id.name())) {
                    members.computeIfAbsent(id.name(), _ -> new ArrayList<>()).add(id.volume());
                }
            }
        }
        List<Finding> found = new ArrayList<>();
        members.forEach((name, volumesOfIt) -> {
            if (!CephNames.isOf(name, volumesOfIt)) {
                found.add(new Finding(
                        Kind.GROUP_SNAPSHOT_INCOMPLETE,
                        scan.cluster() + ":" + scan.fileSystem() + ":" + name,
                        "exists only for " + volumesOfIt + ", but was taken of other volumes too",
                        new Repair.ByHand("ask for the group of snapshots again, or delete it")));
            }
        });
        return found;
    }

    private static List<SnapshotId> snapshots(ScannedEntry place) {
        return place.entry().snapshots().stream()
                .filter(VolumeId.Part.SNAPSHOT::fits)
                .map(name -> new SnapshotId(place.id().orElseThrow(), name))
                .toList();
    }

    private static boolean isKind(ScannedEntry place, CephNames.Kind kind) {
        return CephNames.kindOf(place.entry().name()).equals(Optional.of(kind));
    }

    private static boolean isWhole(ScannedEntry place) {
        return meta(place)
                .filter(meta ->
                        meta.value(MetaFile.NOTES, SubvolumeMetadata.SOURCE).isPresent())
                .isPresent();
    }

    private static Optional<MetaFile> meta(ScannedEntry place) {
        return place.entry().meta() instanceof Meta.Read read ? Optional.of(read.file()) : Optional.empty();
    }

    private static Finding finding(Kind kind, ScannedEntry place, String why, Repair repair) {
        return new Finding(kind, VolumeChecks.describe(place), why, repair);
    }
}
