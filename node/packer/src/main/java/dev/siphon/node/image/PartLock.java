package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.ExclusiveLock;
import dev.siphon.node.linux.SystemErrors;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/// Locks an image against other packers, by a lock on its part file.
///
/// The part file is renamed when complete, so a file that was opened may now be a finished image. The lock counts
/// only if the file still has the name by which it was opened.
final class PartLock implements AutoCloseable {
    private final ImageFiles files;
    private final ExclusiveLock lock;

    private PartLock(ImageFiles files, ExclusiveLock lock) {
        this.files = files;
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
        } catch (ErrnoException e) {
            throw SystemErrors.translate("opening " + QuotedText.of(files.part().toString()), e);
        } catch (IOException e) {
            throw StoreErrors.translate("opening", files.part(), e);
        }
    }

    /// Tries to take the lock; empty if the file was renamed meanwhile, which happens once per finished image.
    private static Optional<PartLock> attempt(ImageFiles files) throws IOException {
        boolean unnamed = lacksManifest(files);
        Path path = unnamed ? files.image() : files.part();
        ExclusiveLock lock = ExclusiveLock.take(path)
                .orElseThrow(() -> new DriverException.OperationPending("another packer is making "
                        + QuotedText.of(files.image().toString()) + ": wait for it, or stop it"));
        if (!lock.isAt(path) || unnamed != lacksManifest(files)) {
            lock.close();
            return Optional.empty();
        }
        if (unnamed) {
            ImagePublication.rename(files.image(), files.part());
        }
        return Optional.of(new PartLock(files, lock));
    }

    /// Whether a packer died between the last two renames: of the image, and of its manifest.
    private static boolean lacksManifest(ImageFiles files) {
        return Files.exists(files.image())
                && !Files.exists(files.manifest())
                && !Files.exists(files.part())
                && CompletedChunkLog.isAt(files.done());
    }

    ImageFiles files() {
        return files;
    }

    /// Opens the locked file; the caller closes it.
    FileChannel open() throws IOException {
        return FileChannel.open(files.part(), PartFile.OPENED, PartFile.PRIVATE);
    }

    /// Releases the lock, and deletes an empty part file.
    @Override
    public void close() {
        try (lock) {
            if (lock.isAt(files.part()) && Files.size(files.part()) == 0) {
                Files.deleteIfExists(files.part());
            }
        } catch (IOException e) {
            throw StoreErrors.translate("closing", files.part(), e);
        }
    }
}
