package dev.siphon.controller.volume;

import dev.siphon.controller.volume.AccountUsage.QuotaItem;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/// Calculates how much each item of an account counts against its allowance. A volume counts its size. A snapshot
/// counts the length of its files, and its image if it is a sealed dataset. Snapshot-backed volumes and aliases hold
/// nothing and count 0. Temporary snapshots, for filling or exporting a volume, do not count.
public final class UsageCalculator {
    private UsageCalculator() {}

    /// Returns the sum for one account, in bytes; [Long#MAX_VALUE] if it is more.
    public static long committed(SubvolumeGroup group, GroupUsage groupUsage) {
        return of(group, groupUsage).values().stream()
                .mapToLong(Long::longValue)
                .reduce(0, UsageCalculator::plus);
    }

    /// Adds two non-negative numbers of bytes; returns [Long#MAX_VALUE] if the sum is more.
    static long plus(long one, long other) {
        return one > Long.MAX_VALUE - other ? Long.MAX_VALUE : one + other;
    }

    /// Returns how many volumes an account has; aliases do not count beside their home.
    public static long volumes(GroupUsage groupUsage) {
        return groupUsage.subvolumes().stream()
                .filter(GroupUsage.Entry::live)
                .filter(entry -> !CephNames.kindOf(entry.name()).equals(Optional.of(CephNames.Kind.ALIAS)))
                .count();
    }

    /// Returns what each item counts, in bytes.
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
        // the mgr sets a clone's size at its end (`subvolume_v1.py`, create_clone): until then its source's counts
        return Math.max(entry.writtenBytes(), sourceOf(group, groupUsage, entry.name()));
    }

    /// Returns the size of a clone's source, which the clone's name identifies; it is in the same group.
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

    /// A snapshot that was not measured counts its volume's size, since it cannot hold more. Its image counts too,
    /// and is removed with it.
    private static long snapshot(GroupUsage.Entry entry, GroupUsage.Snapshot snapshot) {
        OptionalLong known = snapshot.heldBytes().isPresent() ? snapshot.heldBytes() : snapshot.sizeBytes();
        return plus(known.orElse(entry.sizeBytes().orElse(entry.writtenBytes())), snapshot.imageBytes());
    }
}
