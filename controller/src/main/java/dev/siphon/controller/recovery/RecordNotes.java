package dev.siphon.controller.recovery;

import java.util.Optional;

/// The notes in which records of Kubernetes are kept ([dev.siphon.controller.volume.FileTree#note]). No key of a
/// volume or reader can write them: they are on directories that such keys may read at most.
final class RecordNotes {
    /// On a subvolume: the PersistentVolume.
    static final String VOLUME = "persistentvolume";

    /// On the directory of a dataset: the Datasets that are declared there.
    static final String DATASETS = "declared";

    /// What a note may take in bytes: an MDS takes 64 KiB of all attributes of a directory
    /// (`mds_max_xattr_pairs_size`), and snapshots have notes there as well.
    static final int MOST_BYTES = 16 << 10;

    private RecordNotes() {}

    /// On a subvolume: the VolumeSnapshot of one of its snapshots.
    static String ofSnapshot(String snapshot) {
        return "snapshot." + snapshot;
    }

    /// A VolumeSnapshot as its note has it.
    record RecordedSnapshot(String namespace, String name, String className) {
        String text() {
            return namespace + "/" + name + "/" + className;
        }

        /// Empty for what somebody else wrote there.
        static Optional<RecordedSnapshot> parse(String text) {
            String[] parts = text.split("/", -1);
            return parts.length == 3 && !parts[0].isEmpty() && !parts[1].isEmpty()
                    ? Optional.of(new RecordedSnapshot(parts[0], parts[1], parts[2]))
                    : Optional.empty();
        }
    }
}
