package dev.siphon.controller.seal;

import dev.siphon.csi.dataset.Dataset;
import java.util.List;
import java.util.Optional;

/// Port: the records, at the Datasets of sealed snapshots, of whether their images were read back. The key that can
/// write an image cannot write these records.
///
/// All methods throw what those of [SealingCluster] throw.
public interface ReadBacks {
    /// The dataset of a sealed snapshot.
    ///
    /// @param dataset without its readers
    /// @param noted empty if an earlier version sealed it and no check was recorded since
    record Image(Dataset dataset, Optional<ReadBack> noted) {
        ReadBack.State state() {
            return noted.map(ReadBack::state).orElse(ReadBack.State.WAITS);
        }
    }

    /// Returns all declared datasets of sealed snapshots.
    List<Image> all();

    /// Returns the dataset of that name; empty if there is none, or it is not of a sealed snapshot.
    Optional<Image> find(String name);

    /// Records a state. Does nothing if the dataset was deleted meanwhile.
    void note(String name, ReadBack now);
}
