package dev.siphon.controller.seal;

import dev.siphon.csi.dataset.Dataset;
import java.util.List;
import java.util.Optional;

/// Port: what is written at the Datasets of sealed snapshots of whether their images were read back. Whoever can write
/// an image cannot write that.
///
/// All of it throws what [SealingCluster] throws.
public interface ReadBacks {
    /// A dataset of a sealed snapshot.
    ///
    /// @param dataset without its readers
    /// @param noted empty if an earlier version has sealed it, and nothing was done since
    record Image(Dataset dataset, Optional<ReadBack> noted) {
        ReadBack.State state() {
            return noted.map(ReadBack::state).orElse(ReadBack.State.WAITS);
        }
    }

    /// All that are declared.
    List<Image> all();

    /// The one of that name; empty if there is none, or it is no sealed snapshot's.
    Optional<Image> find(String name);

    /// Writes it down. A dataset that was deleted meanwhile needs nothing.
    void note(String name, ReadBack now);
}
