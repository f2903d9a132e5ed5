package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.node.tar.Compression;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/// Unpacks a compressed tar to a file beside the image, because a compressed file has no random access. The file is
/// renamed once it is complete and on disk; an incomplete one is unpacked again.
final class UnpackedTar {
    private static final int AT_ONCE = 1 << 20;
    private static final String TITLE = "siphon-tar 1 ";

    private final ImageFiles files;
    private final ImportListener listener;

    UnpackedTar(ImageFiles files, ImportListener listener) {
        this.files = files;
        this.listener = listener;
    }

    /// Unpacks the tar; [ImageFiles#tar] is complete on return.
    ///
    /// @param origin identifies the file `compressed`
    /// @throws DriverException InvalidRequest (INVALID_ARGUMENT) for a damaged file; QuotaExhausted
    ///     (RESOURCE_EXHAUSTED) if there is no room
    void make(Compression compression, UnchangedFile compressed, String origin) {
        String title = TITLE + origin + "\n";
        try {
            if (isOf(title) && Files.isRegularFile(files.tar(), LinkOption.NOFOLLOW_LINKS)) {
                return;
            }
            Files.deleteIfExists(files.tar());
            Files.deleteIfExists(files.tarPart());
            ImagePublication.write(files.tarOrigin(), title);
            unpack(compression, compressed);
            ImagePublication.rename(files.tarPart(), files.tar());
        } catch (IOException e) {
            throw StoreErrors.translate("unpacking to", files.tarPart(), e);
        }
    }

    private boolean isOf(String title) throws IOException {
        return Files.exists(files.tarOrigin())
                && Files.readString(files.tarOrigin(), StandardCharsets.ISO_8859_1)
                        .equals(title);
    }

    private void unpack(Compression compression, UnchangedFile compressed) throws IOException {
        try (FileChannel channel = FileChannel.open(
                        files.tarPart(),
                        Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW, LinkOption.NOFOLLOW_LINKS),
                        PartFile.PRIVATE);
                InputStream stream = new BufferedInputStream(new UnchangedFileStream(compressed, listener), AT_ONCE);
                InputStream tar = opened(compression, stream, compressed)) {
            FreeSpaceGuard spaceGuard = FreeSpaceGuard.at(files.directory());
            byte[] buffer = new byte[AT_ONCE];
            for (int read = read(tar, buffer, compressed); read >= 0; read = read(tar, buffer, compressed)) {
                spaceGuard.writing(read);
                ByteBuffer bytes = ByteBuffer.wrap(buffer, 0, read);
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
            }
            channel.force(true);
        }
    }

    private static InputStream opened(Compression compression, InputStream stream, UnchangedFile compressed) {
        try {
            return compression.open(stream);
        } catch (IOException e) {
            throw damaged(compressed, e);
        }
    }

    private static int read(InputStream tar, byte[] buffer, UnchangedFile compressed) {
        try {
            return tar.read(buffer);
        } catch (IOException e) {
            throw damaged(compressed, e);
        }
    }

    private static DriverException damaged(UnchangedFile compressed, IOException cause) {
        return new DriverException.InvalidRequest(
                compressed.shown() + " is damaged or cut off, and cannot be unpacked: " + cause);
    }
}
