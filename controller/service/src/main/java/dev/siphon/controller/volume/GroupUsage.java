package dev.siphon.controller.volume;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/// What an account has in one file system, as read from its group's directory without a mgr command.
///
/// @param standing the group as a whole
/// @param subvolumes the subvolumes in it, including those of which only snapshots are left
public record GroupUsage(GroupStanding standing, List<Entry> subvolumes) {
    /// Note on a subvolume's directory, not on its data directory: a class with `overcommit` created it.
    public static final String OVERCOMMITTED = "overcommit";

    /// Prefix of the note on a subvolume's directory with the length of a snapshot's sealed image, in bytes; the
    /// snapshot's name follows.
    public static final String IMAGE = "image.";

    public GroupUsage {
        subvolumes = List.copyOf(subvolumes);
    }

    /// A group as a whole.
    ///
    /// @param group its name
    /// @param quotaBytes the allowance that the MDS enforces; empty if it has none
    /// @param writtenBytes bytes written below it (`ceph.dir.rbytes`), without what only snapshots hold; the MDS's
    ///     count may lag by seconds
    /// @param account its account as last recorded; empty if never recorded
    public record GroupStanding(
            String group, OptionalLong quotaBytes, long writtenBytes, Optional<AccountNote> account) {}

    /// A subvolume.
    ///
    /// @param sizeBytes its size; empty if it has none: only its snapshots are left, or a clone fills it
    /// @param live whether more than its snapshots is left
    /// @param writtenBytes as [GroupStanding#writtenBytes]
    /// @param overcommitted whether a class with `overcommit` created it
    public record Entry(
            String name,
            OptionalLong sizeBytes,
            boolean live,
            long writtenBytes,
            boolean overcommitted,
            List<Snapshot> snapshots) {
        public Entry {
            snapshots = List.copyOf(snapshots);
        }
    }

    /// A snapshot of a subvolume.
    ///
    /// @param heldBytes total length of its files; empty if not measured
    /// @param sizeBytes the size of the volume when it was taken; empty if it had none
    /// @param imageBytes length of its image, or the estimate before the image exists; 0 for none
    public record Snapshot(String name, OptionalLong heldBytes, OptionalLong sizeBytes, long imageBytes) {}
}
