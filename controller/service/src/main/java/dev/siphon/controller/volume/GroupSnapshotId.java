package dev.siphon.controller.volume;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The id of a group snapshot, the `group_snapshot_id` of CSI: `s1g:CLUSTER:FS:SNAPSHOT`. Each of its snapshots has
/// the name SNAPSHOT in its own volume.
public record GroupSnapshotId(String cluster, String fileSystem, String snapshot) {
    private static final Pattern FORM = Pattern.compile("s1g:([^:]+):([^:]+):([^:]+)");

    public GroupSnapshotId {
        VolumeId.Part.CLUSTER.check(cluster);
        VolumeId.Part.FILE_SYSTEM.check(fileSystem);
        VolumeId.Part.SNAPSHOT.check(snapshot);
    }

    /// Parses an id; empty if no version of this driver can have made it.
    public static Optional<GroupSnapshotId> tryParse(String text) {
        Matcher matcher = FORM.matcher(text);
        return matcher.matches()
                        && VolumeId.Part.CLUSTER.fits(matcher.group(1))
                        && VolumeId.Part.FILE_SYSTEM.fits(matcher.group(2))
                        && CephNames.isGroupSnapshot(matcher.group(3))
                ? Optional.of(new GroupSnapshotId(matcher.group(1), matcher.group(2), matcher.group(3)))
                : Optional.empty();
    }

    /// Returns the group that a snapshot belongs to; empty if none.
    static Optional<GroupSnapshotId> of(SnapshotId id) {
        return CephNames.isGroupSnapshot(id.name())
                ? Optional.of(
                        new GroupSnapshotId(id.volume().cluster(), id.volume().fileSystem(), id.name()))
                : Optional.empty();
    }

    /// Returns whether `id` belongs to this group.
    public boolean has(SnapshotId id) {
        return of(id).filter(this::equals).isPresent();
    }

    @Override
    public String toString() {
        return "s1g:" + cluster + ":" + fileSystem + ":" + snapshot;
    }
}
