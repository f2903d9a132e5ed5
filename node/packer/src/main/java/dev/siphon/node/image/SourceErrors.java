package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.SystemErrors;

/// Translates errors of the image's source.
final class SourceErrors {
    private SourceErrors() {}

    /// Returns the error for a system call that failed at `path`, which is quoted.
    static DriverException translate(String path, ErrnoException failed) {
        return switch (failed.errno()) {
            case ENOENT, ENOTDIR, ELOOP, ENODATA, EISDIR, ENXIO -> changed(path);
            case EXDEV -> mounted(path);
            default -> SystemErrors.translate("reading " + path, failed);
        };
    }

    /// FAILED_PRECONDITION: the source changed since the tree was walked.
    static DriverException changed(String path) {
        return new DriverException.InUse(
                path + " changed while it was packed: pack a snapshot, or a tree that nobody" + " writes to");
    }

    /// FAILED_PRECONDITION: a mount belongs to another tree, and hides the source's own files.
    static DriverException mounted(String path) {
        return new DriverException.InUse(
                "something is mounted at " + path + ", which hides what should be packed: unmount it");
    }
}
