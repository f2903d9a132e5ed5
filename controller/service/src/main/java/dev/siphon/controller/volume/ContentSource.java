package dev.siphon.controller.volume;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;

/// The source of a new volume's contents.
public sealed interface ContentSource {
    /// A snapshot.
    record FromSnapshot(SnapshotId snapshot) implements ContentSource {
        @Override
        public String toString() {
            return "snapshot " + snapshot;
        }
    }

    /// Another volume in its current state.
    record FromVolume(VolumeId.Provisioned volume) implements ContentSource {
        @Override
        public String toString() {
            return "volume " + volume;
        }
    }

    /// Returns the source volume, or the snapshot's volume.
    default VolumeId.Provisioned volume() {
        return switch (this) {
            case FromSnapshot from -> from.snapshot().volume();
            case FromVolume from -> from.volume();
        };
    }

    /// Returns the id to write into the volume's metadata.
    default String id() {
        return switch (this) {
            case FromSnapshot from -> from.snapshot().toString();
            case FromVolume from -> from.volume().toString();
        };
    }

    /// Returns the key of the lock that prevents the source's removal while a volume is created from it.
    default String lock() {
        return switch (this) {
            case FromSnapshot from -> Snapshots.key(from.snapshot());
            // no other volume uses its transfer snapshot
            case FromVolume from -> "clones of " + from.volume();
        };
    }
}
