package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.dataset.Manifest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/// The last steps of packing. Each is on disk before the next: a manifest implies its image.
final class ImagePublication {
    private ImagePublication() {}

    /// Renames the complete [ImageFiles#part] to the image, after its data is on disk, and publishes its manifest.
    static void publish(ImageFiles files, Manifest manifest) {
        try {
            write(files.manifestPart(), manifest.text());
            rename(files.part(), files.image());
            rename(files.manifestPart(), files.manifest());
            Files.deleteIfExists(files.done());
        } catch (IOException e) {
            throw StoreErrors.translate("publishing", files.image(), e);
        }
    }

    /// Writes the published files' last changes to the MDS's journal. Call it once no file is open for writing.
    ///
    /// The MDS still lets the last writer write up to some size. It takes that back when another client opens the
    /// file, and that is a change of its own. It waits for the journal, up to `mds_tick_interval` (5 s), and the
    /// first pod's mount with it. A synced change of the file's time brings both to the journal now (ADR 37).
    static void handOver(ImageFiles files) {
        for (Path path : List.of(files.image(), files.manifest())) {
            try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
                Files.setLastModifiedTime(path, FileTime.from(Instant.now()));
                file.force(true);
            } catch (IOException e) {
                throw StoreErrors.translate("flushing", path, e);
            }
        }
    }

    /// Replaces a file; it is on disk when this returns.
    static void write(Path path, String text) throws IOException {
        Files.deleteIfExists(path);
        try (FileChannel channel = FileChannel.open(path, PartFile.OPENED, PartFile.PRIVATE)) {
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
    }

    static void rename(Path from, Path to) throws IOException {
        Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        // a directory opens only for reading, but can be synced
        try (FileChannel directory = FileChannel.open(to.resolveSibling(".").normalize(), StandardOpenOption.READ)) {
            directory.force(true);
        }
    }

    /// Returns the manifest of an existing complete image, if it is the one that would be made. Compares the length
    /// and the first block, whose UUID and checksum cover all metadata.
    ///
    /// @param firstBlock of the image that would be made
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if another file is there
    static Optional<Manifest> existing(ImageFiles files, ByteBuffer firstBlock, long imageBytes) {
        try {
            if (!Files.exists(files.image())) {
                // somebody deleted the image: its manifest must not describe another one
                Files.deleteIfExists(files.manifest());
                return Optional.empty();
            }
            if (Files.exists(files.manifest())
                    && Files.size(files.image()) == imageBytes
                    && firstBlock(files.image(), firstBlock.remaining()).equals(firstBlock)) {
                Files.deleteIfExists(files.done());
                return Optional.of(Manifest.read(files.manifest()));
            }
        } catch (IOException e) {
            throw StoreErrors.translate("reading", files.image(), e);
        }
        throw isOther(files);
    }

    /// Checks early, before the source is read, that the image may be made.
    ///
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if a file that no packer made has its name
    static void checkName(ImageFiles files) {
        if (Files.exists(files.image()) && !Files.exists(files.manifest())) {
            throw isOther(files);
        }
    }

    private static DriverException isOther(ImageFiles files) {
        return new DriverException.IncompatibleExisting(
                QuotedText.of(files.image().toString())
                        + " exists, but is not the image of this source: remove it and its manifest, or choose"
                        + " another name");
    }

    private static ByteBuffer firstBlock(Path image, int bytes) throws IOException {
        ByteBuffer block = ByteBuffer.allocate(bytes);
        try (FileChannel channel = FileChannel.open(image, StandardOpenOption.READ)) {
            while (block.hasRemaining() && channel.read(block) >= 0) {
                // the file may be shorter
            }
        }
        return block.flip();
    }
}
