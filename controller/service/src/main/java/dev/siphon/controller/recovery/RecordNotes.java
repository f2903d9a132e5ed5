package dev.siphon.controller.recovery;

import java.util.Optional;

/// The notes that hold records of Kubernetes objects ([dev.siphon.controller.volume.FileTree#note]). No key of a
/// volume or reader can write them: such keys can at most read the directories that carry them.
final class RecordNotes {
    /// On a subvolume: the PersistentVolume.
    static final String VOLUME = "persistentvolume";

    /// On the directory of a dataset: the Datasets that are declared there.
    static final String DATASETS = "declared";

    /// The maximum size of a note in bytes. An MDS allows 64 KiB for all attributes of a directory
    /// (`mds_max_xattr_pairs_size`), and the notes of snapshots share them.
    static final int MOST_BYTES = 16 << 10;

    private RecordNotes() {}

    /// On a subvolume: the VolumeSnapshot of one of its snapshots.
    static String ofSnapshot(String snapshot) {
        return "snapshot." + snapshot;
    }

    /// A VolumeSnapshot as its note records it.
    record RecordedSnapshot(String namespace, String name, String className) {
        String text() {
            return namespace + "/" + name + "/" + className;
        }

        /// Parses a note; empty for anything that [#text] did not write.
        static Optional<RecordedSnapshot> parse(String text) {
            String[] parts = text.split("/", -1);
            return parts.length == 3 && !parts[0].isEmpty() && !parts[1].isEmpty()
                    ? Optional.of(new RecordedSnapshot(parts[0], parts[1], parts[2]))
                    : Optional.empty();
        }
    }
}
