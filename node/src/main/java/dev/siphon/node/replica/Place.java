package dev.siphon.node.replica;

import java.nio.file.Path;

/// Where an attached dataset is read from.
public sealed interface Place {
    /// The image on CephFS.
    record Remote() implements Place {}

    /// A replica.
    ///
    /// @param cache the cache directory that it is in
    record Local(Path cache) implements Place {}
}
