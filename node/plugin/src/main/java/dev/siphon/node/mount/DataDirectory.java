package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.SystemErrors;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.regex.Pattern;

/// Finds a volume's data below the client's mount. A subvolume's directory holds `.meta` and one directory named by
/// a UUID, which holds the data (`src/pybind/mgr/volumes`, subvolume version 2). The node reads that name from the
/// file system, so it sends no command to the cluster.
final class DataDirectory {
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /// More than a subvolume ever holds; bounds the read of a directory that somebody filled.
    private static final int MAX_NAMES = 1_000;

    private DataDirectory() {}

    /// Opens the data directory of volume `id` in the subvolume at `path` below `mounted`.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the subvolume does not exist or has no data directory
    /// @throws DriverException.BackendFault (INTERNAL) if it has several, or if it is not a real directory
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the subvolume's directory cannot be listed
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
                    new DriverException.BackendFault("volume " + id + ": its data directory"
                            + " is not a directory; an administrator has to look");
                default -> SystemErrors.translate("reading the directory of volume " + id, e);
            };
        } catch (UncheckedIOException e) {
            throw new DriverException.BackendUnavailable("reading the directory of volume " + id + " failed", e);
        }
    }
}
