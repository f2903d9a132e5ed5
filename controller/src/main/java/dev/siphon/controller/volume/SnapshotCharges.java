package dev.siphon.controller.volume;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import java.util.OptionalLong;

/// Takes snapshots as far as the account's allowance goes: a deleted file that a snapshot holds is in no quota of
/// Ceph's. How much a snapshot holds is only known when it is there, so one that turns out not to fit is removed
/// again.
final class SnapshotCharges {
    /// Files and directories that are looked at to measure a snapshot, each with a round trip to the MDS; one with
    /// more counts with the size of its volume.
    private static final int MOST_ENTRIES = 5_000;

    private final Subvolumes subvolumes;
    private final FileTree files;
    private final AllowanceLedger ledger;

    SnapshotCharges(Subvolumes subvolumes, FileTree files, AllowanceLedger ledger) {
        this.subvolumes = subvolumes;
        this.files = files;
        this.ledger = ledger;
    }

    /// Takes a snapshot; one of that name that exists stays as it is.
    ///
    /// @param size of its volume
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

    /// Counts a snapshot that was taken just now.
    ///
    /// @param size of its volume
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if what it holds does not fit the allowance; it
    ///     is there and counts until it is removed
    void count(SnapshotId id, OptionalLong size) {
        if (ledger.isLimited(SubvolumeGroup.of(id.volume()))) {
            admit(id, size.orElse(0));
        }
    }

    private void admit(SnapshotId id, long size) {
        long held = files.measure(id, MOST_ENTRIES, size);
        ledger.admit(new AllowanceLedger.Request(SubvolumeGroup.of(id.volume()), QuotaItem.of(id), held, held, false));
    }

    /// Reserves what an image of a snapshot will take about: as much as the snapshot itself.
    ///
    /// @param size of its volume
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

    /// Counts an image that is there. Nobody is refused for what it is more than was reserved.
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

    /// Says that nobody knows whether a snapshot is there.
    void markUncertain(SnapshotId id, OptionalLong size) {
        ledger.markUncertain(SubvolumeGroup.of(id.volume()), QuotaItem.of(id), size.orElse(0));
    }

    /// Removes a snapshot; one that is not there is no error.
    void remove(SnapshotId id) {
        subvolumes.removeSnapshot(id);
        ledger.free(SubvolumeGroup.of(id.volume()), QuotaItem.of(id));
    }
}
