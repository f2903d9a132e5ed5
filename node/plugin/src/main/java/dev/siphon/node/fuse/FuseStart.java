package dev.siphon.node.fuse;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.mount.CephCredentials;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// An order to start a program.
///
/// @param tag of its mount, see [FuseProgram]
/// @param mountPoint absolute and free of symbolic links
/// @param arguments without the program's name and without a keyring
/// @param credentials for the keyring, which the program reads once
public record FuseStart(
        FuseProgram program,
        String tag,
        Path mountPoint,
        List<String> arguments,
        Optional<CephCredentials> credentials) {
    /// The ceph-fuse option for the directory to mount.
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

    /// Returns the owner of the process's memory: `account NAME` if it mounts a directory of an account's group,
    /// otherwise `mount TAG`, unique to this mount.
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
