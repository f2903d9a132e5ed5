package dev.siphon.controller.volume;

import dev.siphon.controller.volume.AccountUsage.QuotaItem;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import java.util.OptionalLong;

/// Takes snapshots within the account's allowance, since Ceph's quotas ignore deleted files that a snapshot holds.
/// A snapshot can be measured only after it is taken, so one that does not fit is removed again.
final class SnapshotCharges {
    /// How many files and directories to visit when measuring a snapshot, each with a round trip to the MDS. One
    /// with more counts as its volume's size.
    private static final int MOST_ENTRIES = 5_000;

    private final Subvolumes subvolumes;
    private final FileTree files;
    private final AllowanceLedger ledger;

    SnapshotCharges(Subvolumes subvolumes, FileTree files, AllowanceLedger ledger) {
        this.subvolumes = subvolumes;
        this.files = files;
        this.ledger = ledger;
    }

    /// Takes a snapshot; an existing one of that name stays as it is.
    ///
    /// @param size the size of its volume, in bytes
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if what it holds does not fit the allowance
    void take(SnapshotId id, OptionalLong size) {
        SubvolumeGroup group = SubvolumeGroup.of(id.volume());
        if (!ledger.isLimited(group) || ledger.has(group, QuotaItem.of(id))) {
            subvolumes.createSnapshot(id);
            return;
        }
        long most = size.orElse(0);
        boolean _ = ledger.reserve(new AllowanceLedger.Request(group, QuotaItem.of(id), 0, most, false), () -> {
            subvolumes.createSnapshot(id);
            try {
                admit(id, most);
            } catch (DriverException.QuotaExhausted beyond) {
                remove(id);
                throw beyond;
            }
            return true;
        });
    }

    /// Counts a snapshot that was just taken.
    ///
    /// @param size the size of its volume, in bytes
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if what it holds does not fit the allowance; it
    ///     still exists and counts until it is removed
    void count(SnapshotId id, OptionalLong size) {
        if (ledger.isLimited(SubvolumeGroup.of(id.volume()))) {
            admit(id, size.orElse(0));
        }
    }

    private void admit(SnapshotId id, long size) {
        long held = files.measure(id, MOST_ENTRIES, size);
        ledger.admit(new AllowanceLedger.Request(SubvolumeGroup.of(id.volume()), QuotaItem.of(id), held, held, false));
    }

    /// Reserves the estimated size of a snapshot's image: as much as the snapshot itself holds.
    ///
    /// @param size the size of its volume, in bytes
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if that does not fit the allowance
    void reserveImage(SnapshotId id, OptionalLong size) {
        SubvolumeGroup group = SubvolumeGroup.of(id.volume());
        if (ledger.isLimited(group)) {
            long held = files.measure(id, MOST_ENTRIES, size.orElse(0));
            long both = UsageCalculator.plus(held, held);
            boolean _ = ledger.reserve(new AllowanceLedger.Request(group, QuotaItem.of(id), both, both, false), () -> {
                noteImage(id, held);
                return true;
            });
        }
    }

    /// Counts an existing image; never refuses one that is larger than reserved.
    void countImage(SnapshotId id, long bytes) {
        noteImage(id, bytes);
        ledger.recount(SubvolumeGroup.of(id.volume()));
    }

    private void noteImage(SnapshotId id, long bytes) {
        SubvolumeGroup group = SubvolumeGroup.of(id.volume());
        files.setNote(
                group.cluster(),
                group.fileSystem(),
                group.path() + "/" + id.volume().subvolume(),
                GroupUsage.IMAGE + id.name(),
                Long.toString(bytes));
    }

    /// Marks a snapshot as one that may or may not exist.
    void markUncertain(SnapshotId id, OptionalLong size) {
        ledger.markUncertain(SubvolumeGroup.of(id.volume()), QuotaItem.of(id), size.orElse(0));
    }

    /// Removes a snapshot; a missing one is no error.
    void remove(SnapshotId id) {
        subvolumes.removeSnapshot(id);
        ledger.free(SubvolumeGroup.of(id.volume()), QuotaItem.of(id));
    }
}
