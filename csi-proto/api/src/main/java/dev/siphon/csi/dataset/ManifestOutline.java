package dev.siphon.csi.dataset;

import dev.siphon.csi.DriverException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/// A manifest without its chunks, which number 262,144 for a terabyte. It suffices to mount an image.
///
/// @param imageBytes see [Manifest#imageBytes]
/// @param files see [Manifest#files]
/// @param first the digest of the first chunk
/// @param root see [Manifest#root]
public record ManifestOutline(long imageBytes, long files, Digest first, Digest root) {
    /// Reads a whole manifest, but keeps only this outline.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the file is not a manifest
    public static ManifestOutline read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            ManifestReader reader = new ManifestReader(in, Files.size(file));
            byte[] first = new byte[Digest.BYTES];
            reader.next(first, 0);
            byte[] other = new byte[Digest.BYTES];
            for (int i = 1; i < reader.head().chunks(); i++) {
                reader.next(other, 0);
            }
            return new ManifestOutline(
                    reader.head().imageBytes(), reader.head().files(), Digest.read(first, 0), reader.root());
        }
    }

    /// Returns the length of the first chunk in bytes.
    public int firstBytes() {
        return (int) Math.min(Manifest.CHUNK_BYTES, imageBytes);
    }
}
