package dev.siphon.controller.imports;

import java.util.List;
import java.util.Set;

/// What the object of a DatasetImport says about it.
///
/// @param reason why, as one word for programs
/// @param message why, for people, with what to do
/// @param dataset the name for users, `ACCOUNT/NAME`; "" until it is ready
/// @param readers those that the import gave the dataset; administrators may have added others
/// @param settled the generation for which nothing is left to do; 0 while something is
public record ImportStatus(
        Phase phase,
        String reason,
        String message,
        String dataset,
        FetchProgress progress,
        Set<String> readers,
        DatasetUses uses,
        long settled) {
    /// The reason of an import that waits because too many have not ended.
    public static final String TOO_MANY = "TooManyImports";

    /// The status of an object that nobody has looked at yet.
    public static final ImportStatus NONE =
            new ImportStatus(Phase.RESERVING, "", "", "", FetchProgress.NONE, Set.of(), DatasetUses.NONE, 0);

    public ImportStatus {
        readers = Set.copyOf(readers);
    }

    /// How far an import is.
    public enum Phase {
        /// A volume is created, which reserves the room.
        RESERVING("Reserving"),
        /// A Job fills it.
        FETCHING("Fetching"),
        /// Its snapshot becomes a dataset.
        SEALING("Sealing"),
        READY("Ready"),
        FAILED("Failed");

        private final String word;

        Phase(String word) {
            this.word = word;
        }

        /// Returns the word in the object.
        public String word() {
            return word;
        }

        /// Whether the import has ended.
        boolean isEnd() {
            return this == READY || this == FAILED;
        }
    }

    /// The pods that use the dataset.
    ///
    /// @param pods how many
    /// @param namespaces of some of them, sorted
    public record DatasetUses(long pods, List<String> namespaces) {
        public static final DatasetUses NONE = new DatasetUses(0, List.of());

        public DatasetUses {
            namespaces = List.copyOf(namespaces);
        }
    }

    /// Whether the import was ready, and its dataset was deleted.
    boolean hasLostDataset() {
        return phase == Phase.READY && reason.equals(ImportDecision.DATASET_DELETED);
    }

    /// Whether nothing can make the import ready again.
    boolean isOver() {
        return phase == Phase.FAILED || (phase == Phase.READY && reason.equals(ImportDecision.VOLUME_KEPT));
    }

    ImportStatus in(Phase now, String why, String said) {
        return new ImportStatus(now, why, said, dataset, progress, readers, uses, 0);
    }

    ImportStatus withProgress(FetchProgress now) {
        return new ImportStatus(phase, reason, message, dataset, now, readers, uses, settled);
    }

    ImportStatus sharedWith(Set<String> now) {
        return new ImportStatus(phase, reason, message, dataset, progress, now, uses, settled);
    }

    ImportStatus ready(String name) {
        return new ImportStatus(
                Phase.READY, "Ready", "pods read it as dataset " + name, name, progress, readers, uses, 0);
    }

    ImportStatus usedBy(DatasetUses now) {
        return new ImportStatus(phase, reason, message, dataset, progress, readers, now, settled);
    }

    ImportStatus settledAt(long generation) {
        return new ImportStatus(phase, reason, message, dataset, progress, readers, uses, generation);
    }
}
