package dev.siphon.controller.volume;

import java.util.OptionalInt;
import java.util.OptionalLong;

/// What can be changed about a volume after it was made: the mutable parameters of CSI.
///
/// @param quotaFiles how many files and directories it may hold; 0 removes the limit
/// @param mode permission bits of its data directory
public record MutableParameters(OptionalLong quotaFiles, OptionalInt mode) {
    /// Nothing to change.
    public static final MutableParameters NOTHING = new MutableParameters(OptionalLong.empty(), OptionalInt.empty());

    /// Whether there is nothing to change.
    public boolean isNothing() {
        return quotaFiles.isEmpty() && mode.isEmpty();
    }

    /// These changes, with those of `over` where it has any.
    public MutableParameters with(MutableParameters over) {
        return new MutableParameters(
                over.quotaFiles.isPresent() ? over.quotaFiles : quotaFiles, over.mode.isPresent() ? over.mode : mode);
    }
}
