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

/// Which chunks of an image are on disk, for who goes on after a packer has died. A line that says which
/// image of what it is, then one per chunk: its number and its digest. A line that was cut off, and what is
/// behind it, counts for nothing.
final class CompletedChunkLog implements AutoCloseable {
    private static final Pattern LINE = Pattern.compile("([0-9]{1,9}) ([0-9a-f]{64})");

    private final Path path;
    private final FileChannel channel;
    private final Map<Integer, Digest> done = new HashMap<>();

    private CompletedChunkLog(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    /// The log at `path` if it is of the image that `title` says, or else a new one in its place.
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

    /// The length in bytes of what can be believed.
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

    /// The digests of the chunks that it had when it was opened; to be changed by nobody.
    Map<Integer, Digest> done() {
        return done;
    }

    static String line(int chunk, Digest digest) {
        return chunk + " " + digest.hex() + "\n";
    }

    /// Adds `lines`, which are on disk when this returns.
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
