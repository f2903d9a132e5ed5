package dev.siphon.node.image;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.fetch.DownloadDirectory;
import dev.siphon.node.fetch.WebAddress;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/// A download beside the image, with a second file that records its address and version.
public final class DownloadFile implements DownloadDirectory, AutoCloseable {
    private static final String TITLE = "siphon-download 1 ";

    private final Path data;
    private final Path origin;
    private final FileChannel channel;
    private final String title;
    private final FreeSpaceGuard spaceGuard;
    private String validator;
    private long length;

    private DownloadFile(Path data, Path origin, FileChannel channel, String title, String validator, long length) {
        this.data = data;
        this.origin = origin;
        this.channel = channel;
        this.title = title;
        spaceGuard = FreeSpaceGuard.at(data.resolveSibling(".").normalize());
        this.validator = validator;
        this.length = length;
    }

    /// @param data the file for the data
    /// @param origin the file that says where the data is from
    public static DownloadFile open(Path data, Path origin, WebAddress address) {
        // only a digest of the address: a token after its path must not be in a file
        String title =
                TITLE + Digest.of(ByteBuffer.wrap(address.uri().toString().getBytes(StandardCharsets.UTF_8))) + " ";
        try {
            FileChannel channel = FileChannel.open(
                    data,
                    Set.of(
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE,
                            StandardOpenOption.CREATE,
                            LinkOption.NOFOLLOW_LINKS),
                    PartFile.PRIVATE);
            String written = Files.exists(origin) ? Files.readString(origin, StandardCharsets.ISO_8859_1) : "";
            String validator = written.startsWith(title) && written.endsWith("\n")
                    ? written.substring(title.length(), written.length() - 1)
                    : "";
            return new DownloadFile(data, origin, channel, title, validator, channel.size());
        } catch (IOException e) {
            throw StoreErrors.translate("opening", data, e);
        }
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public String validator() {
        return validator;
    }

    @Override
    public void begin(String version) {
        try {
            channel.truncate(0);
            length = 0;
            validator = version;
            ImagePublication.write(origin, title + version + "\n");
        } catch (IOException e) {
            throw StoreErrors.translate("writing", origin, e);
        }
    }

    @Override
    public void makeSureOfRoom(long bytes) {
        spaceGuard.check(bytes);
    }

    @Override
    public void append(ByteBuffer bytes) {
        spaceGuard.writing(bytes.remaining());
        try {
            while (bytes.hasRemaining()) {
                length += channel.write(bytes, length);
            }
        } catch (IOException e) {
            throw StoreErrors.translate("writing", data, e);
        }
    }

    @Override
    public int read(long offset, ByteBuffer target) {
        try {
            return channel.read(target, offset);
        } catch (IOException e) {
            throw StoreErrors.translate("reading", data, e);
        }
    }

    @Override
    public void flush() {
        try {
            channel.force(true);
        } catch (IOException e) {
            throw StoreErrors.translate("flushing", data, e);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw StoreErrors.translate("closing", data, e);
        }
    }
}
