package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Logs which chunks of an image are on disk, so that a later packer can resume. The first line identifies image
/// and source; then each chunk has a line with its number and digest. Reading stops at the first incomplete line.
final class CompletedChunkLog implements AutoCloseable {
    private static final Pattern LINE = Pattern.compile("([0-9]{1,9}) ([0-9a-f]{64})");

    private final Path path;
    private final FileChannel channel;
    private final Map<Integer, Digest> done = new HashMap<>();

    private CompletedChunkLog(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    /// Opens the log at `path` if it belongs to the image that `title` identifies; otherwise replaces it by a new
    /// one.
    static CompletedChunkLog open(Path path, String title) {
        try {
            CompletedChunkLog log =
                    new CompletedChunkLog(path, FileChannel.open(path, PartFile.OPENED, PartFile.PRIVATE));
            long whole = log.read(title);
            log.channel.truncate(whole);
            log.channel.position(whole);
            if (whole == 0) {
                log.write(title + "\n");
            }
            return log;
        } catch (IOException e) {
            throw StoreErrors.translate("reading", path, e);
        }
    }

    /// Returns the length of the valid part in bytes.
    private long read(String title) throws IOException {
        long size = channel.size();
        try (BufferedReader lines = Files.newBufferedReader(path, StandardCharsets.ISO_8859_1)) {
            if (!title.equals(lines.readLine()) || size <= title.length()) {
                return 0;
            }
            long whole = title.length() + 1L;
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Matcher matcher = LINE.matcher(line);
                if (!matcher.matches() || whole + line.length() >= size) {
                    break;
                }
                done.put(Integer.valueOf(matcher.group(1)), new Digest(matcher.group(2)));
                whole += line.length() + 1L;
            }
            return whole;
        }
    }

    /// Whether there is a log of any image at `path`.
    static boolean isAt(Path path) {
        try (BufferedReader lines = Files.newBufferedReader(path, StandardCharsets.ISO_8859_1)) {
            String first = lines.readLine();
            return first != null && first.startsWith(PartFile.TITLE);
        } catch (NoSuchFileException _) {
            return false;
        } catch (IOException e) {
            throw StoreErrors.translate("reading", path, e);
        }
    }

    /// Returns the digests of the chunks that were logged before this run. The caller may clear the map.
    Map<Integer, Digest> done() {
        return done;
    }

    static String line(int chunk, Digest digest) {
        return chunk + " " + digest.hex() + "\n";
    }

    /// Appends `lines`; they are on disk when this returns.
    ///
    /// @throws DriverException QuotaExhausted (RESOURCE_EXHAUSTED) if there is no room
    void write(String lines) {
        ByteBuffer bytes = ByteBuffer.wrap(lines.getBytes(StandardCharsets.US_ASCII));
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(false);
        } catch (IOException e) {
            throw StoreErrors.translate("writing", path, e);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw StoreErrors.translate("closing", path, e);
        }
    }
}
