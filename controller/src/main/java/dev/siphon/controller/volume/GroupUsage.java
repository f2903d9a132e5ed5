package dev.siphon.controller.volume;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/// What an account has in one file system, as its group's directory tells without any command to a mgr.
///
/// @param standing the group's own
/// @param subvolumes what is in it, those of which only snapshots are left included
public record GroupUsage(GroupStanding standing, List<Entry> subvolumes) {
    /// The note on a subvolume's directory, not on its data, that a class with `overcommit` made it.
    public static final String OVERCOMMITTED = "overcommit";

    /// How the note on a subvolume's directory begins that says how long the sealed image of a snapshot is, in
    /// bytes; the snapshot's name is behind it.
    public static final String IMAGE = "image.";

    public GroupUsage {
        subvolumes = List.copyOf(subvolumes);
    }

    /// Of a group as a whole.
    ///
    /// @param group its name
    /// @param quotaBytes the allowance that the MDS enforces; empty if it has none
    /// @param writtenBytes what is written below it (`ceph.dir.rbytes`), as the MDS last counted, which may be
    ///     seconds ago; what only snapshots hold is not in it
    /// @param account whose it is, as last written down; empty if nobody has
    public record GroupStanding(
            String group, OptionalLong quotaBytes, long writtenBytes, Optional<AccountNote> account) {}

    /// A subvolume.
    ///
    /// @param sizeBytes its size; empty if it has none: nothing but snapshots is left of it, or a clone fills it
    /// @param live whether it is more than its snapshots
    /// @param writtenBytes as [GroupStanding#writtenBytes]
    /// @param overcommitted whether it was made by a class with `overcommit`
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
    /// @param heldBytes what its files are long together; empty if nobody has measured it
    /// @param sizeBytes the size of the volume when it was taken; empty if it had none
    /// @param imageBytes how long the image is that was made of it, or will be about; 0 if there is none
    public record Snapshot(String name, OptionalLong heldBytes, OptionalLong sizeBytes, long imageBytes) {}
}
