package dev.siphon.node.unpack;

import dev.siphon.node.fetch.BucketLocation;
import dev.siphon.node.fetch.Download;
import java.nio.file.Path;

/// Where a tree comes from.
public sealed interface FetchSource {
    /// A file on a web server: an archive, or a single file.
    record Web(Download.Source file) implements FetchSource {}

    /// The objects of a folder in a bucket, each a file.
    record Objects(BucketLocation location) implements FetchSource {}

    /// A directory.
    ///
    /// @param path absolute, without symbolic links
    record Folder(Path path) implements FetchSource {
        public Folder {
            path = path.toAbsolutePath().normalize();
        }
    }
}
