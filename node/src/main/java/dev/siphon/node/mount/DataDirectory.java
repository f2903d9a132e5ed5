package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.regex.Pattern;

/// Finds a volume's data in what the client mounted. A subvolume's directory holds `.meta` and one directory
/// named by a UUID, in which the data is (`src/pybind/mgr/volumes`, subvolume version 2); the node reads its name
/// there, so that it needs no command to the cluster.
final class DataDirectory {
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /// More than a subvolume ever holds; a directory that somebody filled is not read to its end.
    private static final int MAX_NAMES = 1_000;

    private DataDirectory() {}

    /// Opens the data directory of `id` below `path` in `mounted`.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the subvolume does not exist, or has no data directory
    /// @throws DriverException.BackendFault (INTERNAL) if there are several, or it is not a real directory
    static DirectoryHandle open(VolumeId id, DirectoryHandle mounted, String path) {
        try (DirectoryHandle subvolume = mounted.openBelow(path)) {
            List<String> names = subvolume.names(MAX_NAMES).stream()
                    .filter(name -> UUID.matcher(name).matches())
                    .toList();
            if (names.isEmpty()) {
                throw new DriverException.NotFound(
                        "volume " + id + " has no data directory in " + QuotedText.of(path) + "; was it deleted?");
            }
            if (names.size() > 1) {
                throw new DriverException.BackendFault(
                        "volume " + id + " has " + names.size() + " directories that could be its data in "
                                + QuotedText.of(path) + "; an administrator has to look");
            }
            return subvolume.openBelow(names.getFirst());
        } catch (ErrnoException e) {
            throw switch (e.errno()) {
                case ENOENT ->
                    new DriverException.NotFound("volume " + id + " has no directory " + QuotedText.of(path));
                case ELOOP, ENOTDIR, EXDEV ->
                    new DriverException.BackendFault("volume " + id + ": what stands in the place of its data directory"
                            + " is not a directory; an administrator has to look");
                default -> SystemErrors.translate("reading the directory of volume " + id, e);
            };
        } catch (UncheckedIOException e) {
            throw new DriverException.BackendUnavailable("reading the directory of volume " + id + " failed", e);
        }
    }
}
