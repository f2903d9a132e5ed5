package dev.siphon.controller.volume;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/// How much each thing that an account has counts against its allowance: a volume with its size, a snapshot with
/// what its files are long, and with its image if it is a sealed dataset. A volume that stands for a snapshot holds
/// nothing, and a snapshot that only lives while
/// a volume is filled from it goes by itself: neither counts.
public final class UsageCalculator {
    private UsageCalculator() {}

    /// The sum for one account, in bytes; [Long#MAX_VALUE] if it is more than that.
    public static long committed(SubvolumeGroup group, GroupUsage groupUsage) {
        return of(group, groupUsage).values().stream()
                .mapToLong(Long::longValue)
                .reduce(0, UsageCalculator::plus);
    }

    /// Adds two amounts of bytes, neither of them negative; [Long#MAX_VALUE] if the sum is more than that.
    static long plus(long one, long other) {
        return one > Long.MAX_VALUE - other ? Long.MAX_VALUE : one + other;
    }

    /// How many volumes an account has; one that stands for its home is counted with that.
    public static long volumes(GroupUsage groupUsage) {
        return groupUsage.subvolumes().stream()
                .filter(GroupUsage.Entry::live)
                .filter(entry -> !CephNames.kindOf(entry.name()).equals(Optional.of(CephNames.Kind.DOOR)))
                .count();
    }

    /// What each counts, in bytes.
    static Map<QuotaItem, Long> of(SubvolumeGroup group, GroupUsage groupUsage) {
        Map<QuotaItem, Long> charges = new HashMap<>();
        for (GroupUsage.Entry entry : groupUsage.subvolumes()) {
            VolumeId.Provisioned volume = group.volume(entry.name());
            if (entry.live()) {
                charges.put(QuotaItem.of(volume), volume(group, groupUsage, entry));
            }
            for (GroupUsage.Snapshot snapshot : entry.snapshots()) {
                if (!CephNames.isTransferSnapshot(snapshot.name())) {
                    charges.put(new QuotaItem(entry.name(), snapshot.name()), snapshot(entry, snapshot));
                }
            }
        }
        return charges;
    }

    private static long volume(SubvolumeGroup group, GroupUsage groupUsage, GroupUsage.Entry entry) {
        if (CephNames.countsNothing(entry.name())) {
            return 0;
        }
        Optional<CephNames.Kind> kind = CephNames.kindOf(entry.name());
        if (entry.sizeBytes().isPresent() || !kind.equals(Optional.of(CephNames.Kind.FILLED))) {
            return entry.sizeBytes().orElse(entry.writtenBytes());
        }
        // the mgr gives a clone its size at its end (`subvolume_v1.py`, create_clone): until then its source's
        // counts
        return Math.max(entry.writtenBytes(), sourceOf(group, groupUsage, entry.name()));
    }

    /// The size of what a clone is made from, which its name tells; a clone's source is of the same group.
    private static long sourceOf(SubvolumeGroup group, GroupUsage groupUsage, String clone) {
        for (GroupUsage.Entry entry : groupUsage.subvolumes()) {
            VolumeId.Provisioned volume = group.volume(entry.name());
            if (clone.endsWith(CephNames.filledSuffix(new ContentSource.FromVolume(volume)))) {
                return entry.sizeBytes().orElse(entry.writtenBytes());
            }
            for (GroupUsage.Snapshot snapshot : entry.snapshots()) {
                SnapshotId id = new SnapshotId(volume, snapshot.name());
                if (clone.endsWith(CephNames.filledSuffix(new ContentSource.FromSnapshot(id)))) {
                    return Math.max(snapshot(entry, snapshot), entry.sizeBytes().orElse(0));
                }
            }
        }
        return 0;
    }

    /// One that nobody has measured counts with the size of its volume, since it cannot hold more. The image that
    /// was made of it counts with it, and goes with it.
    private static long snapshot(GroupUsage.Entry entry, GroupUsage.Snapshot snapshot) {
        OptionalLong known = snapshot.heldBytes().isPresent() ? snapshot.heldBytes() : snapshot.sizeBytes();
        return plus(known.orElse(entry.sizeBytes().orElse(entry.writtenBytes())), snapshot.imageBytes());
    }
}
