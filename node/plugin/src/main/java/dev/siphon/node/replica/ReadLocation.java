package dev.siphon.node.replica;

import java.nio.file.Path;
import java.util.Optional;

/// Where an attached dataset is read from.
public sealed interface ReadLocation {
    /// Returns the cache directory of the replica; empty for CephFS.
    default Optional<Path> cache() {
        return switch (this) {
            case Remote _ -> Optional.empty();
            case Local local -> Optional.of(local.directory());
        };
    }

    /// The image on CephFS.
    record Remote() implements ReadLocation {}

    /// A replica.
    ///
    /// @param directory its cache directory
    record Local(Path directory) implements ReadLocation {}
}
