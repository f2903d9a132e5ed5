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

/// Describes a dataset's image: its length, and the digest of each chunk. With [#root] a reader can verify the
/// manifest, and with the manifest every byte of the image, from any source.
///
/// The text can be read by people. Each line ends with a newline:
/// ```
/// siphon-dataset 1
/// image-bytes 8388608
/// files 1000
/// chunk-bytes 4194304
/// DIGEST of the first chunk, and so on
/// ```
///
/// @param imageBytes the length of the image
/// @param files the number of regular files in it; hard links count once
/// @param chunks the digests of each [#CHUNK_BYTES] of the image in order; the last chunk may be shorter
public record Manifest(long imageBytes, long files, List<Digest> chunks) {
    /// The length of a chunk in bytes.
    public static final int CHUNK_BYTES = 4 << 20;

    /// The maximum length of an image in bytes.
    private static final long MOST_IMAGE_BYTES = 16L << 40;

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the numbers are impossible or inconsistent
    public Manifest {
        requirePossible(imageBytes, files);
        if (chunks.size() != Math.ceilDiv(imageBytes, CHUNK_BYTES)) {
            throw new DriverException.InvalidRequest("a manifest of an image of " + imageBytes + " bytes has "
                    + chunks.size() + " chunks, but the image needs " + Math.ceilDiv(imageBytes, CHUNK_BYTES));
        }
        chunks = PackedDigests.copyOf(chunks);
    }

    static void requirePossible(long imageBytes, long files) {
        if (imageBytes <= 0 || imageBytes > MOST_IMAGE_BYTES || files < 0) {
            throw new DriverException.InvalidRequest(
                    "a manifest says " + imageBytes + " bytes and " + files + " files: no image can have that");
        }
    }

    /// Reads a file that [#write] wrote.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for anything else, including later versions
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

    /// Parses the text of [#text].
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for anything else, including later versions
    public static Manifest parse(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        try {
            return read(new ByteArrayInputStream(bytes), bytes.length);
        } catch (IOException e) {
            throw new UncheckedIOException("memory is always read", e);
        }
    }

    /// Returns the length of the image from the beginning of a manifest's text.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) as [#parse]
    public static long imageBytes(String text) {
        return ManifestReader.head(text).imageBytes();
    }

    /// Returns the text of this manifest; there is only one.
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

    /// Returns the digest of [#text], which identifies the whole dataset.
    public Digest root() {
        MessageDigest sha256 = Digest.algorithm();
        try {
            write(new DigestOutputStream(OutputStream.nullOutputStream(), sha256));
        } catch (IOException e) {
            throw new UncheckedIOException("nothing is written", e);
        }
        return Digest.read(sha256.digest(), 0);
    }

    /// Returns the offset of chunk `index` in the image, in bytes.
    public static long offset(int index) {
        return (long) index * CHUNK_BYTES;
    }

    /// Returns the length of chunk `index` in bytes.
    public int length(int index) {
        return (int) Math.min(CHUNK_BYTES, imageBytes - offset(index));
    }
}
