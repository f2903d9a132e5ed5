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
public final class Charges {
    private Charges() {}

    /// The sum for one account, in bytes; [Long#MAX_VALUE] if it is more than that.
    public static long committed(Group group, Holdings holdings) {
        return of(group, holdings).values().stream().mapToLong(Long::longValue).reduce(0, Charges::plus);
    }

    /// Adds two amounts of bytes, neither of them negative; [Long#MAX_VALUE] if the sum is more than that.
    static long plus(long one, long other) {
        return one > Long.MAX_VALUE - other ? Long.MAX_VALUE : one + other;
    }

    /// How many volumes an account has; one that stands for its home is counted with that.
    public static long volumes(Holdings holdings) {
        return holdings.subvolumes().stream()
                .filter(Holdings.Entry::live)
                .filter(entry -> !Names.kindOf(entry.name()).equals(Optional.of(Names.Kind.DOOR)))
                .count();
    }

    /// What each counts, in bytes.
    static Map<Item, Long> of(Group group, Holdings holdings) {
        Map<Item, Long> charges = new HashMap<>();
        for (Holdings.Entry entry : holdings.subvolumes()) {
            VolumeId.Provisioned volume = group.volume(entry.name());
            if (entry.live()) {
                charges.put(Item.of(volume), volume(group, holdings, entry));
            }
            for (Holdings.Snapshot snapshot : entry.snapshots()) {
                if (!Names.isTransferSnapshot(snapshot.name())) {
                    charges.put(new Item(entry.name(), snapshot.name()), snapshot(entry, snapshot));
                }
            }
        }
        return charges;
    }

    private static long volume(Group group, Holdings holdings, Holdings.Entry entry) {
        if (Names.countsNothing(entry.name())) {
            return 0;
        }
        Optional<Names.Kind> kind = Names.kindOf(entry.name());
        if (entry.sizeBytes().isPresent() || !kind.equals(Optional.of(Names.Kind.FILLED))) {
            return entry.sizeBytes().orElse(entry.writtenBytes());
        }
        // the mgr gives a clone its size at its end (`subvolume_v1.py`, create_clone): until then its source's counts
        return Math.max(entry.writtenBytes(), sourceOf(group, holdings, entry.name()));
    }

    /// The size of what a clone is made from, which its name tells; a clone's source is of the same group.
    private static long sourceOf(Group group, Holdings holdings, String clone) {
        for (Holdings.Entry entry : holdings.subvolumes()) {
            VolumeId.Provisioned volume = group.volume(entry.name());
            if (clone.endsWith(Names.filledSuffix(new ContentSource.FromVolume(volume)))) {
                return entry.sizeBytes().orElse(entry.writtenBytes());
            }
            for (Holdings.Snapshot snapshot : entry.snapshots()) {
                SnapshotId id = new SnapshotId(volume, snapshot.name());
                if (clone.endsWith(Names.filledSuffix(new ContentSource.FromSnapshot(id)))) {
                    return Math.max(snapshot(entry, snapshot), entry.sizeBytes().orElse(0));
                }
            }
        }
        return 0;
    }

    /// One that nobody has measured counts with the size of its volume, since it cannot hold more. The image that was
    /// made of it counts with it, and goes with it.
    private static long snapshot(Holdings.Entry entry, Holdings.Snapshot snapshot) {
        OptionalLong known = snapshot.heldBytes().isPresent() ? snapshot.heldBytes() : snapshot.sizeBytes();
        return plus(known.orElse(entry.sizeBytes().orElse(entry.writtenBytes())), snapshot.imageBytes());
    }
}
