package dev.siphon.node.replica.cache;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.linux.DataFile;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.mount.BlockingCalls;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.BitSet;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import jnr.constants.platform.Errno;

/// Makes a replica: fetches what is missing, and reads all of it back from the disk and checks it before it is
/// called whole. Killed at any moment, it goes on from what is on the disk.
///
/// That tells that the image or the disk is wrong, not which. A second digest would cost the node's pods more of
/// the processor, so chunks are checked on their way to the disk too only in a fill that goes on from an earlier
/// one, or that found one wrong on the disk.
public final class ReplicaFill {
    /// A chunk that is still wrong after it was written twice is the disk's doing.
    private static final int MAX_ROUNDS = 2;

    private static final Bandwidth UNLIMITED = new Bandwidth(java.util.OptionalLong.empty());

    private final CachedReplica replica;
    private final CacheDirectory directory;
    private final Path source;
    private final Manifest manifest;
    private final Terms terms;

    /// How a fill is done.
    ///
    /// @param calls for what is asked of the disk between chunks
    /// @param limit for each of these
    /// @param lanes for the chunks
    /// @param bandwidth for what is read from the source
    /// @param diskRetry how long the disk is left alone after an error
    /// @param stopped whether to leave off, which keeps what is done
    /// @param filled counts the bytes that are written
    public record Terms(
            BlockingCalls calls,
            Duration limit,
            ChunkWorkers lanes,
            Bandwidth bandwidth,
            Duration diskRetry,
            BooleanSupplier stopped,
            LongAdder filled) {}

    /// @param source the image
    /// @param manifest what it has to be
    public ReplicaFill(CacheDirectory directory, CachedReplica replica, Path source, Manifest manifest, Terms terms) {
        this.directory = directory;
        this.replica = replica;
        this.source = source;
        this.manifest = manifest;
        this.terms = terms;
    }

    /// Takes the room for it on the disk. Repeating it keeps what is there.
    ///
    /// @throws DriverException as [#run]
    public void begin() {
        inTime(() -> {
            if (!replica.isWhole()) {
                replica.begin(manifest);
            }
            return true;
        });
    }

    /// Fills the replica, which was [begun][#begin]. Repeating it when it is whole changes nothing.
    ///
    /// @return whether it is whole; not if it was stopped
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the source fails or has a wrong chunk; what is
    ///     done stays for the next try
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if the disk is full, which the directory notes;
    ///     the part is removed
    /// @throws DriverException.BackendFault (INTERNAL) if the disk fails, likewise
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if one of the two does not answer
    public boolean run() {
        if (inTime(replica::isWhole)) {
            return true;
        }
        // an earlier try may have ended at an image that is wrong, which is not to be read whole each time
        boolean suspect = inTime(() -> Files.exists(replica.record()));
        BitSet recorded = inTime(
                () -> ChunkRecord.read(replica.record(), manifest.chunks().size()));
        BitSet missing = ChunkCheck.all(manifest);
        if (!check(recorded, missing)) {
            return false;
        }
        for (int round = 0; round < MAX_ROUNDS; round++) {
            if (!fetch(missing, suspect)) {
                return false;
            }
            suspect = true;
            // what was there before is read back too: it is as old as the last try
            BitSet written = ChunkCheck.all(manifest);
            missing = (BitSet) written.clone();
            if (!check(written, missing)) {
                return false;
            }
            if (missing.isEmpty()) {
                return inTime(() -> {
                    replica.commit();
                    return true;
                });
            }
        }
        throw disk("chunk " + missing.nextSetBit(0) + " of " + replica.part() + " is not what was written", Errno.EIO);
    }

    /// Takes from `missing` those of `written` that the disk gives back right.
    private boolean check(BitSet written, BitSet missing) {
        ChunkCheck check = new ChunkCheck(replica.part(), manifest);
        boolean all = onDisk(() -> check.run(written, terms.lanes(), UNLIMITED, terms.stopped()));
        if (all) {
            missing.andNot(written);
            missing.or(check.damaged());
        }
        return all;
    }

    /// @param suspect whether the image may be what is wrong: checked before it is written
    private boolean fetch(BitSet missing, boolean suspect) {
        BitSet present = ChunkCheck.all(manifest);
        present.andNot(missing);
        try (ChunkRecord record = inTime(() -> ChunkRecord.begin(replica.record(), present))) {
            if (!onDisk(() ->
                    terms.lanes().run(missing, terms.bandwidth(), terms.stopped(), () -> copying(record, suspect)))) {
                return false;
            }
        }
        return inTime(() -> {
            replica.syncPart();
            return true;
        });
    }

    private ChunkWorkers.Lane copying(ChunkRecord record, boolean suspect) {
        DataFile from = fromSource(() -> DataFile.openDirect(source));
        try {
            return new Copying(from, DataFile.create(replica.part()), record, suspect);
        } catch (RuntimeException e) {
            from.close();
            throw e;
        }
    }

    private final class Copying implements ChunkWorkers.Lane {
        private final DataFile from;
        private final DataFile to;
        private final Arena arena = Arena.ofConfined();
        private final MemorySegment buffer = ChunkCheck.buffer(arena);
        private final ChunkRecord record;
        private final boolean suspect;

        Copying(DataFile from, DataFile to, ChunkRecord record, boolean suspect) {
            this.from = from;
            this.to = to;
            this.record = record;
            this.suspect = suspect;
        }

        @Override
        public void work(int chunk) {
            if (!fromSource(() -> read(chunk))) {
                throw new DriverException.BackendUnavailable(
                        "chunk " + chunk + " of the image " + source + " is not what its manifest says");
            }
            MemorySegment content = ChunkCheck.fitting(buffer, manifest, chunk);
            to.write(Manifest.offset(chunk), content);
            record.add(chunk);
            terms.filled().add(content.byteSize());
        }

        private boolean read(int chunk) {
            return suspect
                    ? ChunkCheck.reads(from, manifest, chunk, buffer)
                    : ChunkCheck.fills(from, manifest, chunk, buffer);
        }

        @Override
        public void close() {
            arena.close();
            to.close();
            from.close();
        }
    }

    private <T> T fromSource(Supplier<T> body) {
        try {
            return body.get();
        } catch (ErrnoException e) {
            throw new DriverException.BackendUnavailable(
                    "the image " + source + " cannot be read: " + e.getMessage(), e);
        }
    }

    /// Asks the disk, which may hang.
    private <T> T inTime(Supplier<T> body) {
        try {
            return onDisk(() ->
                    terms.calls().change("cache " + directory.path() + " of " + replica.digest(), terms.limit(), body));
        } catch (DriverException.DeadlinePassed e) {
            directory.failing(e.getMessage(), terms.diskRetry());
            throw e;
        }
    }

    private <T> T onDisk(Supplier<T> body) {
        try {
            return body.get();
        } catch (ErrnoException e) {
            throw disk(String.valueOf(e.getMessage()), e.errno());
        } catch (UncheckedIOException e) {
            boolean full = String.valueOf(e.getMessage()).contains("No space left");
            throw disk(String.valueOf(e.getMessage()), full ? Errno.ENOSPC : Errno.EIO);
        }
    }

    /// What failed on the cache's disk, which is noted there: it concerns every dataset, and the part is worth
    /// nothing.
    private DriverException disk(String what, Errno errno) {
        String message = "the cache directory " + directory.path() + " cannot be written: " + what;
        boolean full = errno == Errno.ENOSPC || errno == Errno.EDQUOT;
        if (full) {
            directory.full(message, terms.diskRetry());
        } else {
            directory.failing(message, terms.diskRetry());
        }
        try {
            replica.discard();
        } catch (UncheckedIOException e) {
            return new DriverException.BackendFault(message + "; what was written stays, for " + e.getMessage(), e);
        }
        return full ? new DriverException.QuotaExhausted(message) : new DriverException.BackendFault(message);
    }
}
