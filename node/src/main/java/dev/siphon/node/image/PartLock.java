package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.ExclusiveLock;
import dev.siphon.node.mount.SystemErrors;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/// Keeps all packers but one away from an image, by a lock on the file that it is made in.
///
/// That file is renamed when it is whole, so one that was opened may by now be another's finished image: what has
/// been locked is used only if it still has the name by which it was opened.
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

    /// Empty if the file was renamed meanwhile, which happens once per finished image.
    private static Optional<PartLock> attempt(ImageFiles files) throws IOException {
        boolean unnamed = lacksManifest(files);
        Path path = unnamed ? files.image() : files.part();
        ExclusiveLock lock = ExclusiveLock.take(path)
                .orElseThrow(() -> new DriverException.OperationPending(
                        "another packer makes " + QuotedText.of(files.image().toString()) + ": let it end, or end it"));
        if (!lock.isAt(path) || unnamed != lacksManifest(files)) {
            lock.close();
            return Optional.empty();
        }
        if (unnamed) {
            ImagePublication.rename(files.image(), files.part());
        }
        return Optional.of(new PartLock(files, lock));
    }

    /// Whether a packer died between the two last steps: the image has its name, and its manifest has not.
    private static boolean lacksManifest(ImageFiles files) {
        return Files.exists(files.image())
                && !Files.exists(files.manifest())
                && !Files.exists(files.part())
                && CompletedChunkLog.isAt(files.done());
    }

    ImageFiles files() {
        return files;
    }

    /// The file that is locked, to be closed by the caller.
    FileChannel open() throws IOException {
        return FileChannel.open(files.part(), PartFile.OPENED, PartFile.PRIVATE);
    }

    /// Lets others at it; a file in which nothing has been begun goes.
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
