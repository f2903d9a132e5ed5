package dev.siphon.csi.dataset;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Quoted;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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

    private static final Pattern HEAD = Pattern.compile(
            "siphon-dataset 1\nimage-bytes ([0-9]{1,18})\nfiles ([0-9]{1,18})\nchunk-bytes " + CHUNK_BYTES + "\n");

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the numbers do not fit together
    public Manifest {
        if (imageBytes <= 0 || files < 0) {
            throw new DriverException.InvalidRequest(
                    "a manifest says " + imageBytes + " bytes and " + files + " files: no image is like that");
        }
        chunks = List.copyOf(chunks);
        if (chunks.size() != Math.ceilDiv(imageBytes, CHUNK_BYTES)) {
            throw new DriverException.InvalidRequest("a manifest of " + imageBytes + " bytes has " + chunks.size()
                    + " chunks, where " + Math.ceilDiv(imageBytes, CHUNK_BYTES) + " make the image");
        }
    }

    /// Reads what [#text] wrote.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for anything else, also of a later version
    public static Manifest parse(String text) {
        Matcher head = HEAD.matcher(text);
        if (!head.lookingAt() || !text.endsWith("\n")) {
            throw new DriverException.InvalidRequest(
                    "no manifest of a dataset that this version reads: it begins " + Quoted.of(beginning(text)));
        }
        List<Digest> chunks =
                text.substring(head.end()).lines().map(Digest::new).toList();
        return new Manifest(Long.parseLong(head.group(1)), Long.parseLong(head.group(2)), chunks);
    }

    /// The length of the image, by how the text of its manifest begins.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) as [#parse]
    public static long imageBytes(String text) {
        Matcher head = HEAD.matcher(text);
        if (!head.lookingAt()) {
            throw new DriverException.InvalidRequest(
                    "no manifest of a dataset that this version reads: it begins " + Quoted.of(beginning(text)));
        }
        return Long.parseLong(head.group(1));
    }

    private static String beginning(String text) {
        return text.substring(0, Math.min(text.length(), 40));
    }

    /// The one text of this manifest.
    public String text() {
        StringBuilder text = new StringBuilder()
                .append("siphon-dataset 1\nimage-bytes ")
                .append(imageBytes)
                .append("\nfiles ")
                .append(files)
                .append("\nchunk-bytes ")
                .append(CHUNK_BYTES)
                .append('\n');
        chunks.forEach(chunk -> text.append(chunk.hex()).append('\n'));
        return text.toString();
    }

    /// The digest of [#text]: it stands for the whole dataset.
    public Digest root() {
        return Digest.of(ByteBuffer.wrap(text().getBytes(StandardCharsets.UTF_8)));
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
