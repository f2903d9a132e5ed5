package dev.siphon.controller.volume;

import java.util.OptionalInt;
import java.util.OptionalLong;

/// The mutable parameters of CSI: what can be changed about an existing volume.
///
/// @param quotaFiles the limit of files and directories; 0 removes it
/// @param mode permission bits of its data directory
public record MutableParameters(OptionalLong quotaFiles, OptionalInt mode) {
    /// Changes nothing.
    public static final MutableParameters NOTHING = new MutableParameters(OptionalLong.empty(), OptionalInt.empty());

    /// Returns whether there is nothing to change.
    public boolean isNothing() {
        return quotaFiles.isEmpty() && mode.isEmpty();
    }

    /// Returns these changes; those of `over` take precedence.
    public MutableParameters with(MutableParameters over) {
        return new MutableParameters(
                over.quotaFiles.isPresent() ? over.quotaFiles : quotaFiles, over.mode.isPresent() ? over.mode : mode);
    }

    /// Applies these changes to a directory; makes no call if there are none.
    void apply(FileTree files, String cluster, String fileSystem, String path) {
        quotaFiles.ifPresent(limit -> files.setQuotaFiles(cluster, fileSystem, path, limit));
        mode.ifPresent(bits -> files.setMode(cluster, fileSystem, path, bits));
    }
}
