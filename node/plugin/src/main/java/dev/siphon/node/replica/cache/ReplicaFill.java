package dev.siphon.node.replica.cache;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.chunk.Bandwidth;
import dev.siphon.node.chunk.ChunkCheck;
import dev.siphon.node.chunk.ChunkWorkers;
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

/// Fills a replica: fetches the missing chunks, then reads the whole replica back from the disk and verifies it.
/// After a kill at any moment, the next fill resumes from the disk.
///
/// A wrong chunk does not show whether the image or the disk is at fault. Verifying chunks before they are written
/// would double the CPU time taken from the node's pods. So a fill does that only if it resumes an earlier one, or
/// has found a wrong chunk on the disk.
public final class ReplicaFill {
    /// A chunk that is still wrong after two writes is the disk's fault.
    private static final int MAX_ROUNDS = 2;

    private static final Bandwidth UNLIMITED = new Bandwidth(java.util.OptionalLong.empty());

    private final CachedReplica replica;
    private final CacheDirectory directory;
    private final Path source;
    private final Manifest manifest;
    private final Terms terms;

    /// The context and limits of a fill.
    ///
    /// @param calls runs the calls to the disk between chunks
    /// @param limit the deadline of each such call
    /// @param lanes processes the chunks
    /// @param bandwidth limits the reads from the source
    /// @param diskRetry how long to avoid the disk after an error
    /// @param stopped whether to stop, keeping the chunks written so far
    /// @param filled counts the bytes written
    public record Terms(
            BlockingCalls calls,
            Duration limit,
            ChunkWorkers lanes,
            Bandwidth bandwidth,
            Duration diskRetry,
            BooleanSupplier stopped,
            LongAdder filled) {}

    /// @param source the path of the image
    /// @param manifest the expected content
    public ReplicaFill(CacheDirectory directory, CachedReplica replica, Path source, Manifest manifest, Terms terms) {
        this.directory = directory;
        this.replica = replica;
        this.source = source;
        this.manifest = manifest;
        this.terms = terms;
    }

    /// Reserves the disk space. Repeating it keeps existing data.
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

    /// Fills the replica; call [#begin] first. Repeating it on a whole replica changes nothing.
    ///
    /// @return whether it is whole; false if it was stopped
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the source fails or has a wrong chunk; written
    ///     chunks stay for the next try
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if the disk is full; marks the directory and
    ///     removes the partial replica
    /// @throws DriverException.BackendFault (INTERNAL) if the disk fails; marks the directory and removes the
    ///     partial replica
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if the source or the disk does not respond
    public boolean run() {
        if (inTime(replica::isWhole)) {
            return true;
        }
        // an earlier fill may have failed on a wrong image; do not copy all of that again
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
            // also verify the chunks from before: their last check is as old as the last try
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
        throw disk(
                "chunk " + missing.nextSetBit(0) + " of " + replica.part() + " differs from what was written",
                Errno.EIO);
    }

    /// Removes from `missing` the chunks of `written` that the disk returns correctly.
    private boolean check(BitSet written, BitSet missing) {
        ChunkCheck check = new ChunkCheck(replica.part(), manifest);
        boolean all = onDisk(() -> check.run(written, terms.lanes(), UNLIMITED, terms.stopped()));
        if (all) {
            missing.andNot(written);
            missing.or(check.damaged());
        }
        return all;
    }

    /// @param suspect whether to verify the source's chunks before writing them, because the image may be wrong
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

    /// Runs a call to the disk with a deadline, because it may hang.
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

    /// Marks the cache directory as full or failing, which affects every dataset, and removes the partial replica.
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
            return new DriverException.BackendFault(
                    message + "; the partial replica could not be removed: " + e.getMessage(), e);
        }
        return full ? new DriverException.QuotaExhausted(message) : new DriverException.BackendFault(message);
    }
}
