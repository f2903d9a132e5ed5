package dev.siphon.csi.dataset;

import dev.siphon.csi.DriverException;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.List;

/// What a dataset's image has to be: its length, and the digest of each of its chunks. Whoever holds [#root] can
/// check the manifest, and by it every byte of the image, wherever the two came from.
///
/// As text, for who looks at night, one line each, each ended by a newline:
/// ```
/// siphon-dataset 1
/// image-bytes 8388608
/// files 1000
/// chunk-bytes 4194304
/// DIGEST of the first chunk, and so on
/// ```
///
/// @param imageBytes the image's length
/// @param files regular files in it, each counted once however many names it has
/// @param chunks the digest of each [#CHUNK_BYTES] of the image in their order; the last may be shorter
public record Manifest(long imageBytes, long files, List<Digest> chunks) {
    /// The length of a chunk in bytes.
    public static final int CHUNK_BYTES = 4 << 20;

    /// The length of the longest image, in bytes.
    private static final long MOST_IMAGE_BYTES = 16L << 40;

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the numbers do not fit together
    public Manifest {
        requirePossible(imageBytes, files);
        if (chunks.size() != Math.ceilDiv(imageBytes, CHUNK_BYTES)) {
            throw new DriverException.InvalidRequest("a manifest of " + imageBytes + " bytes has " + chunks.size()
                    + " chunks, where " + Math.ceilDiv(imageBytes, CHUNK_BYTES) + " make the image");
        }
        chunks = PackedDigests.copyOf(chunks);
    }

    static void requirePossible(long imageBytes, long files) {
        if (imageBytes <= 0 || imageBytes > MOST_IMAGE_BYTES || files < 0) {
            throw new DriverException.InvalidRequest(
                    "a manifest says " + imageBytes + " bytes and " + files + " files: no image is like that");
        }
    }

    /// Reads what [#write] wrote.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for anything else, also of a later version
    public static Manifest read(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return read(in, Files.size(file));
        }
    }

    private static Manifest read(InputStream in, long textBytes) throws IOException {
        ManifestReader reader = new ManifestReader(in, textBytes);
        byte[] chunks = new byte[reader.head().chunks() * Digest.BYTES];
        for (int at = 0; at < chunks.length; at += Digest.BYTES) {
            reader.next(chunks, at);
        }
        var _ = reader.root();
        return new Manifest(reader.head().imageBytes(), reader.head().files(), PackedDigests.over(chunks));
    }

    /// Reads what [#text] gave.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for anything else, also of a later version
    public static Manifest parse(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        try {
            return read(new ByteArrayInputStream(bytes), bytes.length);
        } catch (IOException e) {
            throw new UncheckedIOException("memory is always read", e);
        }
    }

    /// The length of the image, by how the text of its manifest begins.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) as [#parse]
    public static long imageBytes(String text) {
        return ManifestReader.head(text).imageBytes();
    }

    /// The one text of this manifest.
    public String text() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            write(out);
        } catch (IOException e) {
            throw new UncheckedIOException("memory is always written", e);
        }
        return out.toString(StandardCharsets.US_ASCII);
    }

    /// Writes [#text].
    public void write(OutputStream out) throws IOException {
        OutputStream buffered = new BufferedOutputStream(out, 1 << 16);
        String head = "siphon-dataset 1\nimage-bytes " + imageBytes + "\nfiles " + files + "\nchunk-bytes "
                + CHUNK_BYTES + "\n";
        buffered.write(head.getBytes(StandardCharsets.US_ASCII));
        for (Digest chunk : chunks) {
            buffered.write((chunk.hex() + "\n").getBytes(StandardCharsets.US_ASCII));
        }
        buffered.flush();
    }

    /// The digest of [#text]: it stands for the whole dataset.
    public Digest root() {
        MessageDigest sha256 = Digest.algorithm();
        try {
            write(new DigestOutputStream(OutputStream.nullOutputStream(), sha256));
        } catch (IOException e) {
            throw new UncheckedIOException("nothing is written", e);
        }
        return Digest.read(sha256.digest(), 0);
    }

    /// Where chunk `index` begins in the image, in bytes.
    public static long offset(int index) {
        return (long) index * CHUNK_BYTES;
    }

    /// The length of chunk `index` in bytes.
    public int length(int index) {
        return (int) Math.min(CHUNK_BYTES, imageBytes - offset(index));
    }
}
