package dev.siphon.node.unpack;

import dev.siphon.node.fetch.FetchLimits;
import java.nio.file.Path;

/// What to fetch, and where to.
///
/// @param into a directory; the tree is `data` in it
/// @param maxBytes of all files
/// @param maxFiles files, directories and links
public record FetchRequest(FetchSource source, Path into, long maxBytes, long maxFiles, FetchLimits limits) {
    public FetchRequest {
        into = into.toAbsolutePath().normalize();
    }
}
