package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/// An image that is being made, in [ImageFiles#part]. [CompletedChunkLog] records a chunk only once it is on disk.
/// A resume still verifies the digest of each recorded chunk. Once the image is complete it is renamed, and then
/// its manifest.
final class PartFile implements AutoCloseable {
    /// The prefix of a log.
    static final String TITLE = "siphon-pack 1 ";

    static final Set<OpenOption> OPENED =
            Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE);
    /// 0600: the image must not expose files that only some accounts could read.
    static final FileAttribute<?>[] PRIVATE = {
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
    };

    /// The log is flushed after so many chunks (64 MiB); a crash loses about as much.
    private static final int LOGGED_AT_ONCE = 16;

    private final ImageFiles files;
    private final FileChannel channel;
    private final CompletedChunkLog log;
    private final boolean fresh;
    private final ReentrantLock logging = new ReentrantLock();
    private final StringBuilder unlogged = new StringBuilder();
    private int unloggedChunks;

    private PartFile(ImageFiles files, FileChannel channel, CompletedChunkLog log, boolean fresh) {
        this.files = files;
        this.channel = channel;
        this.log = log;
        this.fresh = fresh;
    }

    /// Resumes an existing file of the same image; otherwise starts over.
    ///
    /// @param fingerprint of the image and its source
    /// @throws DriverException QuotaExhausted (RESOURCE_EXHAUSTED), BackendUnavailable (UNAVAILABLE)
    static PartFile open(PartLock lock, Digest fingerprint, long imageBytes) {
        ImageFiles files = lock.files();
        CompletedChunkLog log = CompletedChunkLog.open(files.done(), TITLE + fingerprint + " " + imageBytes);
        boolean opened = false;
        try {
            PartFile part = open(files, lock.open(), log, imageBytes);
            opened = true;
            return part;
        } catch (IOException e) {
            throw StoreErrors.translate("writing", files.part(), e);
        } finally {
            if (!opened) {
                log.close();
            }
        }
    }

    private static PartFile open(ImageFiles files, FileChannel channel, CompletedChunkLog log, long imageBytes)
            throws IOException {
        boolean resumed = !log.done().isEmpty() && channel.size() == imageBytes;
        if (!resumed) {
            log.done().clear();
            channel.truncate(0);
            // writing the last byte sets the length; unwritten parts read as zeros
            channel.write(ByteBuffer.allocate(1), imageBytes - 1);
        }
        return new PartFile(files, channel, log, !resumed);
    }

    /// Returns the digest that an earlier run logged for chunk `index`. The caller must verify it.
    Optional<Digest> claimed(int index) {
        return Optional.ofNullable(log.done().get(index));
    }

    /// Whether unwritten parts are zeros.
    boolean fresh() {
        return fresh;
    }

    /// Fills `memory` with the bytes at `offset`.
    void read(long offset, MemorySegment memory) {
        ByteBuffer bytes = memory.asByteBuffer();
        try {
            while (bytes.hasRemaining()) {
                if (channel.read(bytes, offset + bytes.position()) < 0) {
                    throw new DriverException.BackendFault(
                            QuotedText.of(files.part().toString()) + " became shorter: somebody else writes to it");
                }
            }
        } catch (IOException e) {
            throw StoreErrors.translate("reading", files.part(), e);
        }
    }

    /// Writes `memory` at `offset`.
    ///
    /// @throws DriverException QuotaExhausted (RESOURCE_EXHAUSTED) if there is no room
    void write(long offset, MemorySegment memory) {
        ByteBuffer bytes = memory.asByteBuffer();
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes, offset + bytes.position());
            }
        } catch (IOException e) {
            throw StoreErrors.translate("writing", files.part(), e);
        }
    }

    /// Records that chunk `index` is written. Logs chunks in batches, because each log write costs two flushes.
    void finished(int index, Digest digest) {
        synchronized (unlogged) {
            unlogged.append(CompletedChunkLog.line(index, digest));
            if (++unloggedChunks < LOGGED_AT_ONCE) {
                return;
            }
        }
        // if another thread is flushing, leave it to the next call
        if (logging.tryLock()) {
            try {
                flush();
            } finally {
                logging.unlock();
            }
        }
    }

    /// Flushes the data, then logs its chunks.
    private void flush() {
        String lines;
        synchronized (unlogged) {
            lines = unlogged.toString();
            unlogged.setLength(0);
            unloggedChunks = 0;
        }
        force();
        log.write(lines);
    }

    private void force() {
        try {
            channel.force(true);
        } catch (IOException e) {
            throw StoreErrors.translate("flushing", files.part(), e);
        }
    }

    /// Called once all chunks are written: renames the image, and then the manifest.
    void publish(Manifest manifest) {
        logging.lock();
        try {
            flush();
        } finally {
            logging.unlock();
        }
        ImagePublication.publish(files, manifest);
    }

    @Override
    public void close() {
        try (log) {
            channel.close();
        } catch (IOException e) {
            throw StoreErrors.translate("closing", files.part(), e);
        }
    }
}
