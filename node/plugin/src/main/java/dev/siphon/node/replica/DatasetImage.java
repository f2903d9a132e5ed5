package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.csi.dataset.ManifestOutline;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Function;

/// A sealed dataset, with its paths on this node.
///
/// @param digest the root of its manifest, which stands for the whole dataset
/// @param image the image's path, on a mount that lasts as long as the dataset is attached or filled
/// @param manifest the manifest's path, on the same mount
public record DatasetImage(Digest digest, Path image, Path manifest) {
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if a path is relative
    public DatasetImage {
        if (!image.isAbsolute() || !manifest.isAbsolute()) {
            throw new DriverException.InvalidRequest("the paths of an image and its manifest are absolute");
        }
    }

    /// Reads the manifest; may hang with its file system.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if it cannot be read
    /// @throws DriverException.BackendFault (INTERNAL) if it is another dataset's, or damaged
    Manifest readManifest() {
        return read(Manifest::read, Manifest::root);
    }

    /// Reads the manifest without the chunks' digests, which take 8 MiB per terabyte.
    ///
    /// @throws DriverException as [#readManifest]
    ManifestOutline readOutline() {
        return read(ManifestOutline::read, ManifestOutline::root);
    }

    private <T> T read(ManifestFile<T> reading, Function<T, Digest> root) {
        try {
            T read = reading.read(manifest);
            if (root.apply(read).equals(digest)) {
                return read;
            }
            throw new DriverException.BackendFault(
                    manifest + " is the manifest of another dataset, " + root.apply(read));
        } catch (DriverException.InvalidRequest e) {
            throw new DriverException.BackendFault(manifest + ": " + e.getMessage(), e);
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable("cannot read the manifest " + manifest + ": " + e, e);
        }
    }

    private interface ManifestFile<T> {
        T read(Path file) throws IOException;
    }
}
