package dev.siphon.node.chunk;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.csi.dataset.ManifestOutline;
import dev.siphon.node.linux.DataFile;
import dev.siphon.node.linux.ErrnoException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.function.BooleanSupplier;

/// Reads a file back and compares it with its manifest. Reads past the page cache, to check what the disk holds.
public final class ChunkCheck {
    private static final int MAX_READS = 2;

    private final Path file;
    private final Manifest manifest;
    private final BitSet damaged = new BitSet();

    public ChunkCheck(Path file, Manifest manifest) {
        this.file = file;
        this.manifest = manifest;
    }

    /// Returns all chunks of a manifest.
    public static BitSet all(Manifest manifest) {
        BitSet chunks = new BitSet();
        chunks.set(0, manifest.chunks().size());
        return chunks;
    }

    /// Checks each of `chunks`. An unreadable chunk counts as damaged.
    ///
    /// @return whether all were read; false if `stopped` was true first
    /// @throws dev.siphon.csi.DriverException as [ChunkWorkers#run]
    /// @throws ErrnoException if the file cannot be opened
    public boolean run(BitSet chunks, ChunkWorkers workers, Bandwidth bandwidth, BooleanSupplier stopped) {
        return workers.run(chunks, bandwidth, stopped, CheckLane::new);
    }

    /// Returns the damaged chunks found so far.
    public synchronized BitSet damaged() {
        return (BitSet) damaged.clone();
    }

    /// Returns whether no damage was found so far.
    public synchronized boolean isClean() {
        return damaged.isEmpty();
    }

    private synchronized void add(int chunk) {
        damaged.set(chunk);
    }

    /// Returns whether one chunk of a file matches the manifest, read past the page cache.
    ///
    /// @throws ErrnoException if it cannot be read
    public static boolean matches(Path file, Manifest manifest, int chunk) {
        return matches(
                file,
                Manifest.offset(chunk),
                manifest.length(chunk),
                manifest.chunks().get(chunk));
    }

    /// Returns whether the first chunk of a file matches the manifest, read past the page cache.
    ///
    /// @throws ErrnoException if it cannot be read
    public static boolean beginsRight(Path file, ManifestOutline manifest) {
        return matches(file, 0, manifest.firstBytes(), manifest.first());
    }

    private static boolean matches(Path file, long offset, int length, Digest wanted) {
        try (DataFile opened = DataFile.openDirect(file);
                Arena arena = Arena.ofConfined()) {
            return reads(opened, offset, buffer(arena).asSlice(0, length), wanted);
        }
    }

    /// Returns the slice of `buffer` for `chunk`, as long as the chunk.
    public static MemorySegment fitting(MemorySegment buffer, Manifest manifest, int chunk) {
        return buffer.asSlice(0, manifest.length(chunk));
    }

    /// Reads `chunk`, again if it differs, and returns whether it matches the manifest.
    public static boolean reads(DataFile file, Manifest manifest, int chunk, MemorySegment buffer) {
        return reads(
                file,
                Manifest.offset(chunk),
                fitting(buffer, manifest, chunk),
                manifest.chunks().get(chunk));
    }

    private static boolean reads(DataFile file, long offset, MemorySegment buffer, Digest wanted) {
        for (int i = 0; i < MAX_READS; i++) {
            if (file.read(offset, buffer) == buffer.byteSize()
                    && Digest.of(buffer.asByteBuffer()).equals(wanted)) {
                return true;
            }
        }
        return false;
    }

    /// Reads `chunk`, and returns whether the file has all of it.
    public static boolean fills(DataFile file, Manifest manifest, int chunk, MemorySegment buffer) {
        MemorySegment wanted = fitting(buffer, manifest, chunk);
        return file.read(Manifest.offset(chunk), wanted) == wanted.byteSize();
    }

    /// Allocates a buffer for one chunk, aligned for direct I/O.
    public static MemorySegment buffer(Arena arena) {
        return arena.allocate(Manifest.CHUNK_BYTES, DataFile.ALIGNMENT);
    }

    private final class CheckLane implements ChunkWorkers.Lane {
        private final DataFile opened = DataFile.openDirect(file);
        private final Arena arena = Arena.ofConfined();
        private final MemorySegment buffer = buffer(arena);

        @Override
        public void work(int chunk) {
            try {
                if (!reads(opened, manifest, chunk, buffer)) {
                    add(chunk);
                }
            } catch (ErrnoException _) {
                add(chunk);
            }
        }

        @Override
        public void close() {
            arena.close();
            opened.close();
        }
    }
}
