package dev.siphon.controller.audit;

import dev.siphon.controller.audit.FileSystemScan.ScannedEntry;
import dev.siphon.controller.audit.Finding.Kind;
import dev.siphon.controller.audit.VolumesDirectory.DataState;
import dev.siphon.controller.audit.VolumesDirectory.EntryState;
import dev.siphon.controller.audit.VolumesDirectory.FileKind;
import dev.siphon.controller.audit.VolumesDirectory.Meta;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.Homes;
import dev.siphon.controller.volume.SubvolumeMetadata;
import dev.siphon.csi.VolumeId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/// Checks one subvolume: whether it is valid, and whether mgr and Siphon agree on it.
final class VolumeChecks {
    private static final String OLD = "/volumes/_legacy/";

    private final FileSystemScan scan;

    VolumeChecks(FileSystemScan scan) {
        this.scan = scan;
    }

    /// Returns the defects of an entry in an account's group.
    List<Finding> of(ScannedEntry place) {
        EntryState entry = place.entry();
        Optional<VolumeId.Provisioned> id =
                place.id().filter(volume -> CephNames.kindOf(volume.subvolume()).isPresent());
        if (id.isEmpty()) {
            return List.of(finding(
                    Kind.UNKNOWN_ENTRY,
                    place,
                    "no volume of Siphon's has such a name",
                    new Repair.ByHand(
                            "whoever put it there may remove it; it counts against the account's allowance")));
        }
        if (entry.kind() != FileKind.DIRECTORY) {
            return List.of(finding(
                    Kind.NOT_A_DIRECTORY,
                    place,
                    "is a " + entry.kind().name().toLowerCase(java.util.Locale.ROOT) + " where a subvolume belongs",
                    new Repair.ByHand("Siphon does not follow it; look where it leads, and remove it")));
        }
        List<Finding> found = new ArrayList<>();
        switch (entry.meta()) {
            case Meta.Missing _
            when hasNoFiles(entry) ->
                found.add(finding(
                        Kind.HALF_MADE,
                        place,
                        "has no .meta and no files: it was never finished",
                        deleted(id.get(), entry)));
            case Meta.Missing _ -> found.add(lost(place, id.get(), "has files and no .meta"));
            case Meta.Broken broken -> found.add(lost(place, id.get(), "has a .meta that " + broken.why()));
            case Meta.Read read -> found.addAll(withMeta(place, id.get(), read.file()));
        }
        if (!entry.others().isEmpty()) {
            found.add(finding(
                    Kind.STRAY_FILES,
                    place,
                    "has beside its data directory: " + String.join(", ", entry.others()),
                    new Repair.ByHand("no volume shows them; move or remove them")));
        }
        return found;
    }

    /// Returns the repair that deletes a volume. Only `siphon home` deletes a home, and a person must decide
    /// about files.
    static Repair deleted(VolumeId.Provisioned volume, EntryState seen) {
        if (Homes.isHome(volume)) {
            return new Repair.ByHand("the next volume of its class finishes it; siphon home --delete removes it");
        }
        return hasNoFiles(seen)
                ? new Repair.DeleteVolume(volume, seen)
                : new Repair.ByHand("it holds files: " + LeftoverDeletion.ADVICE);
    }

    /// Returns whether deletion loses nothing, wherever in the subvolume a user may have moved files.
    static boolean hasNoFiles(EntryState entry) {
        return entry.kind() == FileKind.DIRECTORY
                && entry.snapshots().isEmpty()
                && entry.others().isEmpty()
                && !entry.purging()
                && entry.data().stream().allMatch(data -> data.kind() == FileKind.DIRECTORY && data.entries() == 0);
    }

    private Finding lost(ScannedEntry place, VolumeId.Provisioned id, String why) {
        Optional<MetaFile> written = CephNames.kindOf(id.subvolume()).equals(Optional.of(CephNames.Kind.FILLED))
                ? Optional.empty()
                : onlyDataPath(place).map(MetaFile::complete);
        return finding(Kind.META_LOST, place, why, mended(place, id, written));
    }

    private static Repair mended(ScannedEntry place, VolumeId.Provisioned id, Optional<MetaFile> written) {
        return written.<Repair>map(meta -> new Repair.WriteMeta(id, place.entry(), meta, old(place.path())))
                .orElseGet(() -> new Repair.ByHand("restore " + place.path()
                        + "/.meta from a snapshot, or move the files to another volume; nothing proves what"
                        + " this volume is"));
    }

    private List<Finding> withMeta(ScannedEntry place, VolumeId.Provisioned id, MetaFile meta) {
        List<Finding> found = new ArrayList<>();
        String path = meta.global("path");
        String state = meta.global("state");
        boolean retained = state.equals("snapshot-retained");
        boolean knownState = retained || SubvolumeState.of(state).isPresent();
        boolean own = path.matches(java.util.regex.Pattern.quote(place.path()) + "/" + DATA_NAME);
        if (scan.top().old().contains(oldName(place.path()))) {
            found.add(finding(
                    Kind.TAKEN_FOR_OLD,
                    place,
                    "the mgr reads " + old(place.path()) + " in place of its .meta",
                    mended(place, id, own ? Optional.of(meta) : corrected(place, id, meta))));
        } else if (!meta.hasKnownFormat() || !knownState || (retained ? !path.isEmpty() : !own)) {
            String why = ".meta says version " + meta.global("version") + ", type " + meta.global("type") + ", state "
                    + state + ", path " + (path.isEmpty() ? "none" : path);
            found.add(finding(Kind.META_FORGED, place, why, mended(place, id, corrected(place, id, meta))));
        } else if (retained) {
            found.addAll(retained(place, id));
        } else {
            found.addAll(live(place, meta));
        }
        return found;
    }

    /// Returns the `.meta` as it must have been, with its notes, if the volume is known to be whole.
    private static Optional<MetaFile> corrected(ScannedEntry place, VolumeId.Provisioned id, MetaFile meta) {
        boolean whole = !CephNames.kindOf(id.subvolume()).equals(Optional.of(CephNames.Kind.FILLED))
                || meta.value(MetaFile.NOTES, SubvolumeMetadata.SOURCE).isPresent();
        return onlyDataPath(place).filter(_ -> whole).map(meta::completeAt);
    }

    private List<Finding> retained(ScannedEntry place, VolumeId.Provisioned id) {
        EntryState entry = place.entry();
        if (!entry.data().isEmpty()) {
            return List.of(finding(
                    Kind.REMOVAL_UNFINISHED,
                    place,
                    "was removed with its snapshots kept, but its data is still in " + names(entry),
                    new Repair.ByHand("remove " + place.path() + "/" + names(entry) + " if nobody needs it")));
        }
        return hasNoFiles(entry)
                ? List.of(finding(
                        Kind.REMAINS,
                        place,
                        "was removed with its snapshots kept, but has no snapshot",
                        new Repair.RemoveRemains(id)))
                : List.of();
    }

    private List<Finding> live(ScannedEntry place, MetaFile meta) {
        EntryState entry = place.entry();
        String name = meta.global("path").substring(place.path().length() + 1);
        Optional<DataState> data =
                entry.data().stream().filter(each -> each.name().equals(name)).findFirst();
        List<Finding> found = new ArrayList<>();
        if (data.filter(each -> each.kind() == FileKind.DIRECTORY).isEmpty()) {
            found.add(finding(
                    Kind.DATA_MISSING,
                    place,
                    "its data directory " + name + (data.isPresent() ? " is no directory" : " is not there"),
                    new Repair.ByHand("Siphon does not follow it; restore the directory, or delete the volume")));
        }
        for (DataState other : entry.data()) {
            if (!other.name().equals(name)) {
                String path = place.path() + "/" + other.name();
                found.add(finding(
                        Kind.DATA_SEVERAL,
                        place,
                        "has a second data directory, " + other.name() + ", with " + other.entries() + " entries",
                        other.entries() == 0 && other.kind() == FileKind.DIRECTORY
                                ? new Repair.RemoveEmptyDirectory(scan.cluster(), scan.fileSystem(), path)
                                : new Repair.ByHand("move what is in " + path + " to the other, and remove it")));
            }
        }
        boolean complete = meta.global("state").equals(SubvolumeState.COMPLETE.text());
        if (complete
                && data.filter(each -> each.kind() == FileKind.DIRECTORY
                                && each.namespace().isEmpty())
                        .isPresent()) {
            found.add(finding(
                    Kind.NOT_ISOLATED,
                    place,
                    "its files lie in the common RADOS namespace",
                    new Repair.ByHand(
                            "copy them to a new volume: a key for these would open other volumes'" + " files too")));
        }
        return found;
    }

    private static String names(EntryState entry) {
        return String.join(", ", entry.data().stream().map(DataState::name).toList());
    }

    /// Returns the path of the only data directory; empty if there is none or several, or if it is not a
    /// directory.
    private static Optional<String> onlyDataPath(ScannedEntry place) {
        List<DataState> data = place.entry().data();
        return data.size() == 1 && data.getFirst().kind() == FileKind.DIRECTORY
                ? Optional.of(place.path() + "/" + data.getFirst().name())
                : Optional.empty();
    }

    /// The names of data directories.
    static final String DATA_NAME = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";

    /// Returns where the mgr stores the `.meta` of a legacy subvolume (`subvolume_base.py`,
    /// `legacy_config_path`).
    static String old(String path) {
        return OLD + oldName(path);
    }

    private static String oldName(String path) {
        try {
            byte[] md5 = MessageDigest.getInstance("MD5").digest(path.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(md5) + ".meta";
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every Java platform has MD5", missing);
        }
    }

    private static Finding finding(Kind kind, ScannedEntry place, String why, Repair repair) {
        return new Finding(kind, describe(place), why, repair);
    }

    /// Returns a subvolume's name in findings: its volume id, or its path if the name cannot be a volume's.
    static String describe(ScannedEntry place) {
        return place.id()
                .map(VolumeId.Provisioned::toString)
                .orElseGet(() -> place.group().cluster() + ":" + place.group().fileSystem() + ":" + place.path());
    }

    /// The mgr's states of a subvolume with a data directory (`subvolume_attrs.py`).
    enum SubvolumeState {
        COMPLETE,
        PENDING,
        IN_PROGRESS,
        FAILED,
        CANCELED;

        static Optional<SubvolumeState> of(String text) {
            return java.util.Arrays.stream(values())
                    .filter(state -> state.text().equals(text))
                    .findFirst();
        }

        String text() {
            return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
        }
    }
}
