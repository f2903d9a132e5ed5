package dev.siphon.node.fuse;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.mount.CephCredentials;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// A program to start, and the mount by which it is known to serve.
///
/// @param tag the mount's own, see [FuseProgram]
/// @param mountPoint absolute and free of symbolic links
/// @param arguments without the program itself and without a keyring
/// @param credentials what a keyring is made of, which the program reads once
public record FuseStart(
        FuseProgram program,
        String tag,
        Path mountPoint,
        List<String> arguments,
        Optional<CephCredentials> credentials) {
    /// The option of ceph-fuse that says which directory of the file system is mounted.
    public static final String DIRECTORY = "--client_mountpoint=";

    private static final Path GROUPS = Path.of("/volumes");

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the tag is empty or the mount point not
    ///     absolute
    public FuseStart {
        arguments = List.copyOf(arguments);
        if (tag.isEmpty()) {
            throw new DriverException.InvalidRequest("a FUSE mount needs a tag");
        }
        if (!mountPoint.isAbsolute()) {
            throw new DriverException.InvalidRequest(
                    "the mount point " + QuotedText.of(mountPoint.toString()) + " is not absolute");
        }
    }

    /// Whose memory the process takes: `account NAME` where a directory of an account's group is mounted, else
    /// `mount TAG`, which is nobody's but this mount's own.
    String owner() {
        return arguments.stream()
                .filter(each -> each.startsWith(DIRECTORY))
                .map(each -> Path.of(each.substring(DIRECTORY.length())))
                .findFirst()
                .filter(path -> path.startsWith(GROUPS) && !path.equals(GROUPS))
                .map(path -> path.getName(GROUPS.getNameCount()).toString())
                .filter(VolumeId.Part.GROUP::fits)
                .map(group -> "account " + group)
                .orElse("mount " + tag);
    }
}
