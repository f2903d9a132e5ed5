package dev.siphon.controller.key;

import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.VolumeId;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A cephx identity of a volume. The first is `siphon.FS.GROUP.SUBVOLUME`; its replacements add `.2`, `.3` and so
/// on.
///
/// @param generation 1 for the first
public record VolumeIdentity(VolumeId.Provisioned volume, int generation) {
    /// The prefix of all volume identities.
    public static final String PREFIX = "siphon.";

    /// Names of Siphon's groups and subvolumes start with a letter and contain no dots.
    private static final Pattern BEHIND_FILE_SYSTEM =
            Pattern.compile("([a-z][a-z0-9-]*)\\.([a-z][a-z0-9-]*)(?:\\.([1-9][0-9]{0,8}))?");

    private static final Pattern OF_ANY_FILE_SYSTEM =
            Pattern.compile(Pattern.quote(PREFIX) + ".+\\." + BEHIND_FILE_SYSTEM.pattern());

    public static VolumeIdentity first(VolumeId.Provisioned volume) {
        return new VolumeIdentity(volume, 1);
    }

    /// Returns the identity's id, without `client.`.
    public String userId() {
        String base = PREFIX + volume.fileSystem() + "." + volume.group() + "." + volume.subvolume();
        return generation == 1 ? base : base + "." + generation;
    }

    /// Returns whether an id is that of an alias of a home, in any file system.
    static boolean isOfHome(String userId) {
        Matcher parts = OF_ANY_FILE_SYSTEM.matcher(userId);
        return parts.matches() && CephNames.kindOf(parts.group(2)).equals(Optional.of(CephNames.Kind.ALIAS));
    }

    /// Parses an id as an identity of this volume; empty if it is not one.
    static Optional<VolumeIdentity> of(VolumeId.Provisioned volume, String userId) {
        return parse(volume.cluster(), volume.fileSystem(), userId)
                .filter(identity -> identity.volume().equals(volume));
    }

    /// Parses an id as the identity of any volume of that file system; empty if it is not one.
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
