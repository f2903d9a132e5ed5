package dev.siphon.controller.key;

import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.VolumeId;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A cephx identity of a volume: `siphon.FS.GROUP.SUBVOLUME` is the first, the same with `.2`, `.3` and so on
/// behind are those by which it was replaced.
///
/// @param generation 1 for the first
public record VolumeIdentity(VolumeId.Provisioned volume, int generation) {
    /// How all identities of volumes begin.
    public static final String PREFIX = "siphon.";

    /// Names of Siphon's groups and subvolumes have no dots, and begin with a letter.
    private static final Pattern BEHIND_FILE_SYSTEM =
            Pattern.compile("([a-z][a-z0-9-]*)\\.([a-z][a-z0-9-]*)(?:\\.([1-9][0-9]{0,8}))?");

    /// The first identity of a volume.
    public static VolumeIdentity first(VolumeId.Provisioned volume) {
        return new VolumeIdentity(volume, 1);
    }

    /// The identity's id, without `client.`.
    public String userId() {
        String base = PREFIX + volume.fileSystem() + "." + volume.group() + "." + volume.subvolume();
        return generation == 1 ? base : base + "." + generation;
    }

    /// Which identity of a volume an id is; empty if it is none of that volume's.
    static Optional<VolumeIdentity> of(VolumeId.Provisioned volume, String userId) {
        return parse(volume.cluster(), volume.fileSystem(), userId)
                .filter(identity -> identity.volume().equals(volume));
    }

    /// Which volume's identity an id is; empty if it is no volume's of that file system.
    public static Optional<VolumeIdentity> parse(String cluster, String fileSystem, String userId) {
        String begin = PREFIX + fileSystem + ".";
        if (!userId.startsWith(begin)) {
            return Optional.empty();
        }
        Matcher rest = BEHIND_FILE_SYSTEM.matcher(userId.substring(begin.length()));
        if (!rest.matches()) {
            return Optional.empty();
        }
        VolumeId.Provisioned volume = new SubvolumeGroup(cluster, fileSystem, rest.group(1)).volume(rest.group(2));
        return Optional.of(new VolumeIdentity(
                volume,
                Optional.ofNullable(rest.group(3)).map(Integer::parseInt).orElse(1)));
    }
}
