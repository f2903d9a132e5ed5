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
import java.nio.file.StandardOpenOption;
import java.util.Set;

/// A download beside the image, with a second file that records its address and version.
final class DownloadFile implements DownloadDirectory, AutoCloseable {
    private static final String TITLE = "siphon-download 1 ";

    private final ImageFiles files;
    private final FileChannel channel;
    private final String title;
    private final FreeSpaceGuard spaceGuard;
    private String validator;
    private long length;

    private DownloadFile(ImageFiles files, FileChannel channel, String title, String validator, long length) {
        this.files = files;
        this.channel = channel;
        this.title = title;
        spaceGuard = FreeSpaceGuard.at(files.directory());
        this.validator = validator;
        this.length = length;
    }

    static DownloadFile open(ImageFiles files, WebAddress address) {
        // only a digest of the address: a token after its path must not be in a file
        String title =
                TITLE + Digest.of(ByteBuffer.wrap(address.uri().toString().getBytes(StandardCharsets.UTF_8))) + " ";
        try {
            FileChannel channel = FileChannel.open(
                    files.download(),
                    Set.of(
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE,
                            StandardOpenOption.CREATE,
                            LinkOption.NOFOLLOW_LINKS),
                    PartFile.PRIVATE);
            String origin = Files.exists(files.downloadOrigin())
                    ? Files.readString(files.downloadOrigin(), StandardCharsets.ISO_8859_1)
                    : "";
            String validator = origin.startsWith(title) && origin.endsWith("\n")
                    ? origin.substring(title.length(), origin.length() - 1)
                    : "";
            return new DownloadFile(files, channel, title, validator, channel.size());
        } catch (IOException e) {
            throw StoreErrors.translate("opening", files.download(), e);
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
            ImagePublication.write(files.downloadOrigin(), title + version + "\n");
        } catch (IOException e) {
            throw StoreErrors.translate("writing", files.downloadOrigin(), e);
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
            throw StoreErrors.translate("writing", files.download(), e);
        }
    }

    @Override
    public int read(long offset, ByteBuffer target) {
        try {
            return channel.read(target, offset);
        } catch (IOException e) {
            throw StoreErrors.translate("reading", files.download(), e);
        }
    }

    @Override
    public void flush() {
        try {
            channel.force(true);
        } catch (IOException e) {
            throw StoreErrors.translate("flushing", files.download(), e);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw StoreErrors.translate("closing", files.download(), e);
        }
    }
}
