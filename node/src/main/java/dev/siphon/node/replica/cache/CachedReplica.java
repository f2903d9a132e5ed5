package dev.siphon.node.replica.cache;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.linux.DataFile;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.FileIdentity;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import jnr.constants.platform.Errno;

/// One dataset's files in one cache directory, in a folder named by its digest:
/// - `image.part`, while it is filled, at its full length; `image.chunks` beside it, a [ChunkRecord];
/// - `image`, once every byte is on the disk and was read back right; there is none before;
/// - `manifest`, whose digest is the folder's name, and whose time of change is the replica's last use;
/// - `pinned`, empty, if it may not be evicted.
///
/// Every method asks the disk and may hang with it, and throws [UncheckedIOException] or
/// [dev.siphon.node.linux.ErrnoException] if it fails.
public final class CachedReplica {
    /// What is being removed is first renamed to this and something, so that it is never half a replica.
    static final String GONE = ".gone-";

    private static final long ALL_PERCENT = 100;

    private final Path cache;
    private final Digest digest;

    CachedReplica(Path cache, Digest digest) {
        this.cache = cache;
        this.digest = digest;
    }

    public Digest digest() {
        return digest;
    }

    /// The cache directory that it is in.
    public Path cache() {
        return cache;
    }

    private Path folder() {
        return cache.resolve(digest.hex());
    }

    private Path file(String name) {
        return folder().resolve(name);
    }

    /// The image, which is there only if it is whole.
    public Path image() {
        return file("image");
    }

    Path part() {
        return file("image.part");
    }

    Path record() {
        return file("image.chunks");
    }

    public boolean isWhole() {
        return Files.exists(image());
    }

    /// Whether a fill was begun and has not been finished.
    public boolean isPart() {
        return !isWhole() && Files.exists(part());
    }

    /// Which file the image is, as a loop device tells it; empty if it is not whole.
    public Optional<FileIdentity> identity() {
        try (DataFile image = DataFile.open(image())) {
            return Optional.of(image.identity());
        } catch (ErrnoException e) {
            if (e.is(Errno.ENOENT)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /// Reads one block of the whole image from the disk, another each time.
    ///
    /// @return how many bytes were read; none where there is no image
    public long probe() {
        try (DataFile image = DataFile.openDirect(image());
                Arena arena = Arena.ofConfined()) {
            long blocks = image.size() / DataFile.ALIGNMENT;
            long at = blocks == 0 ? 0 : ThreadLocalRandom.current().nextLong(blocks);
            return image.read(at * DataFile.ALIGNMENT, arena.allocate(DataFile.ALIGNMENT, DataFile.ALIGNMENT));
        } catch (ErrnoException e) {
            if (e.is(Errno.ENOENT)) {
                return 0;
            }
            throw e;
        }
    }

    /// What it takes of the cache directory's limit.
    public long bytes() {
        return length(isWhole() ? image() : part());
    }

    /// How much of a part was written, in percent, as far as the record beside it says.
    public int percentDone() {
        long chunks = Math.ceilDiv(length(part()), Manifest.CHUNK_BYTES);
        return chunks == 0 ? 0 : (int) (ALL_PERCENT * Math.min(ChunkRecord.count(length(record())), chunks) / chunks);
    }

    private static long length(Path file) {
        try {
            return Files.size(file);
        } catch (NoSuchFileException _) {
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// @throws DriverException.BackendFault (INTERNAL) if the manifest here is not this dataset's
    public Manifest manifest() {
        try {
            Manifest manifest = Manifest.read(file("manifest"));
            if (manifest.root().equals(digest)) {
                return manifest;
            }
        } catch (DriverException.InvalidRequest _) {
            // no manifest at all
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        throw new DriverException.BackendFault("the manifest in " + folder() + " is not that of the dataset");
    }

    /// Makes the folder and the part, with room for all of it on the disk. Repeating it keeps what is there.
    void begin(Manifest manifest) {
        try {
            try {
                Files.createDirectory(
                        folder(), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            } catch (FileAlreadyExistsException _) {
                // goes on
            }
            Path written = file("manifest.part");
            try (OutputStream out = Files.newOutputStream(written)) {
                manifest.write(out);
            }
            sync(written);
            Files.move(written, file("manifest"), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        try (DataFile part = DataFile.create(part())) {
            part.allocate(manifest.imageBytes());
        }
    }

    /// Puts what was written so far on the disk.
    void syncPart() {
        try (DataFile part = DataFile.create(part())) {
            part.sync();
        }
    }

    /// Makes the part, which is whole and was checked, the image.
    void commit() {
        try {
            Files.move(part(), image(), StandardCopyOption.ATOMIC_MOVE);
            sync(folder());
            sync(cache);
            Files.deleteIfExists(record());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public boolean isPinned() {
        return Files.exists(file("pinned"));
    }

    /// Keeps it from being evicted, or no longer.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if it is not here, nor being filled
    public void pin(boolean pinned) {
        try {
            if (!pinned) {
                Files.deleteIfExists(file("pinned"));
            } else if (!isPinned()) {
                Files.createFile(file("pinned"));
            }
        } catch (FileAlreadyExistsException _) {
            // by another call in this moment
        } catch (NoSuchFileException _) {
            throw new DriverException.NotFound("there is no replica of dataset " + digest + " in " + cache);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// When it was last attached or detached.
    public Instant lastUse() {
        try {
            return Files.getLastModifiedTime(file("manifest")).toInstant();
        } catch (NoSuchFileException _) {
            return Instant.EPOCH;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Notes a use.
    public void use(Instant at) {
        try {
            Files.setLastModifiedTime(file("manifest"), FileTime.from(at));
        } catch (NoSuchFileException _) {
            // evicted in this moment
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Removes it; that it is gone is success. Nothing may be reading it.
    public void discard() {
        try {
            Path gone = cache.resolve(GONE + UUID.randomUUID());
            Files.move(folder(), gone, StandardCopyOption.ATOMIC_MOVE);
            sync(cache);
            delete(gone);
        } catch (NoSuchFileException _) {
            // gone
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Deletes what [#discard] renamed, also when that was killed half-way.
    static void delete(Path gone) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(gone)) {
            for (Path file : files) {
                Files.deleteIfExists(file);
            }
        }
        Files.deleteIfExists(gone);
    }

    private static void sync(Path path) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
