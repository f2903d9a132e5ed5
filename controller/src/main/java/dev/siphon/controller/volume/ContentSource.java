package dev.siphon.controller.volume;

import dev.siphon.csi.DriverException;
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

    /// Reads what a note holds: the id of a snapshot, or of a volume.
    static ContentSource parse(String id) {
        return SnapshotId.tryParse(id).<ContentSource>map(FromSnapshot::new).orElseGet(() -> switch (VolumeId.parse(
                id)) {
            case VolumeId.Provisioned volume -> new FromVolume(volume);
            case VolumeId.Static fixed ->
                throw new DriverException.InvalidRequest(
                        "static volume " + fixed + " cannot be the source of a volume");
        });
    }

    /// The id to write into a note.
    default String id() {
        return switch (this) {
            case FromSnapshot from -> from.snapshot().toString();
            case FromVolume from -> from.volume().toString();
        };
    }
}
