package dev.siphon.controller.volume;

import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;

/// What a new volume's contents come from.
public sealed interface ContentSource {
    /// A snapshot.
    record FromSnapshot(SnapshotId snapshot) implements ContentSource {
        @Override
        public String toString() {
            return "snapshot " + snapshot;
        }
    }

    /// Another volume as it is now.
    record FromVolume(VolumeId.Provisioned volume) implements ContentSource {
        @Override
        public String toString() {
            return "volume " + volume;
        }
    }

    /// The volume, or that of the snapshot.
    default VolumeId.Provisioned volume() {
        return switch (this) {
            case FromSnapshot from -> from.snapshot().volume();
            case FromVolume from -> from.volume();
        };
    }

    /// The id to write into a note.
    default String id() {
        return switch (this) {
            case FromSnapshot from -> from.snapshot().toString();
            case FromVolume from -> from.volume().toString();
        };
    }
}
