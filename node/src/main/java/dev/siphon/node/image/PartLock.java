package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Quoted;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.Optional;

/// Keeps all packers but one away from an image: a lock of fcntl(2) on the file that it is made in, which
/// ends with the process, and which CephFS knows on all its clients.
///
/// The file is renamed when it is whole, so one that was opened may by now be another's finished image:
/// what has been locked is used only if it still has the name by which it was opened.
final class PartLock implements AutoCloseable {
    private final ImageFiles files;
    private final FileChannel channel;
    private final FileLock lock;

    private PartLock(ImageFiles files, FileChannel channel, FileLock lock) {
        this.files = files;
        this.channel = channel;
        this.lock = lock;
    }

    /// @throws DriverException.OperationPending (ABORTED) if another packer makes the same image
    static PartLock take(ImageFiles files) {
        try {
            Optional<PartLock> taken = attempt(files);
            while (taken.isEmpty()) {
                taken = attempt(files);
            }
            return taken.get();
        } catch (IOException e) {
            throw StoreErrors.translate("opening", files.part(), e);
        }
    }

    /// Empty if the file was renamed meanwhile, which happens once per finished image.
    private static Optional<PartLock> attempt(ImageFiles files) throws IOException {
        boolean unnamed = lacksManifest(files);
        Path path = unnamed ? files.image() : files.part();
        FileChannel channel = FileChannel.open(path, PartFile.OPENED, PartFile.PRIVATE);
        Optional<Object> before = key(path);
        Optional<FileLock> lock = lock(channel);
        if (lock.isEmpty()) {
            channel.close();
            throw new DriverException.OperationPending(
                    "another packer makes " + Quoted.of(files.image().toString()) + ": let it end, or end it");
        }
        // a file with this name before and after the lock was taken, and opened in between or before: the same one
        if (before.isEmpty() || !before.equals(key(path)) || unnamed != lacksManifest(files)) {
            channel.close();
            return Optional.empty();
        }
        if (unnamed) {
            Publication.rename(files.image(), files.part());
        }
        return Optional.of(new PartLock(files, channel, lock.get()));
    }

    /// Whether a packer died between the two last steps: the image has its name, and its manifest has not.
    private static boolean lacksManifest(ImageFiles files) {
        return Files.exists(files.image())
                && !Files.exists(files.manifest())
                && !Files.exists(files.part())
                && DoneLog.isAt(files.done());
    }

    private static Optional<FileLock> lock(FileChannel channel) throws IOException {
        try {
            return Optional.ofNullable(channel.tryLock());
        } catch (OverlappingFileLockException _) {
            return Optional.empty();
        }
    }

    private static Optional<Object> key(Path path) throws IOException {
        try {
            return Optional.of(Objects.requireNonNull(
                    Files.readAttributes(path, BasicFileAttributes.class).fileKey()));
        } catch (NoSuchFileException _) {
            return Optional.empty();
        }
    }

    ImageFiles files() {
        return files;
    }

    /// The file that is locked. Nobody else in this process may open it: closing that would give the lock away.
    FileChannel channel() {
        return channel;
    }

    /// Lets others at it; a file in which nothing has been begun goes.
    @Override
    public void close() {
        try (channel;
                lock) {
            if (channel.size() == 0) {
                Files.deleteIfExists(files.part());
            }
        } catch (IOException e) {
            throw StoreErrors.translate("closing", files.part(), e);
        }
    }
}
