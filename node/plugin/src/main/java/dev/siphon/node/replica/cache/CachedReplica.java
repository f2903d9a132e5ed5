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

/// One dataset's files in one cache directory, in a directory named by the dataset's digest:
/// - `image.part` during a fill, at its full length, with a [ChunkRecord] in `image.chunks`;
/// - `image`, only once every byte is on the disk and was read back correctly;
/// - `manifest`, whose root is the digest, and whose modification time is the replica's last use;
/// - `pinned`, an empty file, if the replica may not be evicted.
///
/// Every method accesses the disk and may hang with it. If the disk fails, it throws [UncheckedIOException] or
/// [dev.siphon.node.linux.ErrnoException].
public final class CachedReplica {
    /// The prefix to rename a replica to before its files are deleted, so that no half-deleted replica is ever
    /// visible.
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

    /// Returns its cache directory.
    public Path cache() {
        return cache;
    }

    private Path folder() {
        return cache.resolve(digest.hex());
    }

    private Path file(String name) {
        return folder().resolve(name);
    }

    /// Returns the path of the image, which exists only if the replica is whole.
    public Path image() {
        return file("image");
    }

    /// Returns the path of its manifest.
    public Path manifestFile() {
        return file("manifest");
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

    /// Returns whether an unfinished fill has left files.
    public boolean isPart() {
        return !isWhole() && Files.exists(part());
    }

    /// Returns the device and inode of the image, comparable to a loop device's backing file; empty if it is not
    /// whole.
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

    /// Reads one random block of the whole image from the disk.
    ///
    /// @return the bytes read; 0 without an image
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

    /// Returns the bytes that count towards the cache directory's limit.
    public long bytes() {
        return length(isWhole() ? image() : part());
    }

    /// Returns the share of a partial replica that is written, in percent, by the record beside it.
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
            Manifest manifest = Manifest.read(manifestFile());
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

    /// Creates the directory and the partial image, and allocates its full length on the disk. Repeating it keeps
    /// existing data.
    void begin(Manifest manifest) {
        try {
            try {
                Files.createDirectory(
                        folder(), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            } catch (FileAlreadyExistsException _) {
                // left by an earlier try
            }
            Path written = file("manifest.part");
            try (OutputStream out = Files.newOutputStream(written)) {
                manifest.write(out);
            }
            sync(written);
            Files.move(written, manifestFile(), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        try (DataFile part = DataFile.create(part())) {
            part.allocate(manifest.imageBytes());
        }
    }

    /// Syncs the partial image to the disk.
    void syncPart() {
        try (DataFile part = DataFile.create(part())) {
            part.sync();
        }
    }

    /// Turns the partial image, which must be complete and verified, into the image.
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

    /// Pins or unpins it.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) on a pin, if there is neither a replica nor a fill
    public void pin(boolean pinned) {
        try {
            if (!pinned) {
                Files.deleteIfExists(file("pinned"));
            } else if (!isPinned()) {
                Files.createFile(file("pinned"));
            }
        } catch (FileAlreadyExistsException _) {
            // pinned by another call at the same moment
        } catch (NoSuchFileException _) {
            throw new DriverException.NotFound("there is no replica of dataset " + digest + " in " + cache);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns its last use: the last attach or detach.
    public Instant lastUse() {
        try {
            return Files.getLastModifiedTime(manifestFile()).toInstant();
        } catch (NoSuchFileException _) {
            return Instant.EPOCH;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Records a use.
    public void use(Instant at) {
        try {
            Files.setLastModifiedTime(manifestFile(), FileTime.from(at));
        } catch (NoSuchFileException _) {
            // evicted at the same moment
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Deletes it; succeeds if it is already gone. No reader may be left.
    public void discard() {
        try {
            Path gone = cache.resolve(GONE + UUID.randomUUID());
            Files.move(folder(), gone, StandardCopyOption.ATOMIC_MOVE);
            sync(cache);
            delete(gone);
        } catch (NoSuchFileException _) {
            // already deleted
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Deletes a directory that [#discard] renamed, even one that an interrupted deletion left.
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
