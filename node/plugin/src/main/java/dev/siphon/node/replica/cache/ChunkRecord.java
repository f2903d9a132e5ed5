package dev.siphon.node.replica.cache;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.BitSet;

/// Records the written chunks of a replica in a file beside it, so that a fill can resume. Each chunk's number
/// takes 4 bytes, in the order of completion.
///
/// The record is only a hint. After a power failure it may name chunks that the disk lacks, so a fill reads them
/// back and verifies them. Chunks missing from the record are fetched again.
final class ChunkRecord implements AutoCloseable {
    private final FileChannel file;

    private ChunkRecord(FileChannel file) {
        this.file = file;
    }

    /// Reads the chunks in the record at `path`, below `chunks`; none without a record. A truncated last number or
    /// a damaged record does no harm.
    static BitSet read(Path path, int chunks) {
        BitSet done = new BitSet(chunks);
        try {
            ByteBuffer numbers = ByteBuffer.wrap(Files.readAllBytes(path));
            while (numbers.remaining() >= Integer.BYTES) {
                int chunk = numbers.getInt();
                if (chunk >= 0 && chunk < chunks) {
                    done.set(chunk);
                }
            }
            return done;
        } catch (NoSuchFileException _) {
            return done;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns the number of chunks in a record of `bytes`.
    static long count(long bytes) {
        return bytes / Integer.BYTES;
    }

    /// Replaces the record at `path` by one with `done`.
    static ChunkRecord begin(Path path, BitSet done) {
        try {
            ByteBuffer numbers = ByteBuffer.allocate(done.cardinality() * Integer.BYTES);
            done.stream().forEach(numbers::putInt);
            Files.write(path, numbers.array());
            return new ChunkRecord(FileChannel.open(path, StandardOpenOption.WRITE, StandardOpenOption.APPEND));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Appends a chunk. On return it is in the file, but perhaps not yet on the disk.
    synchronized void add(int chunk) {
        try {
            ByteBuffer number = ByteBuffer.allocate(Integer.BYTES).putInt(0, chunk);
            while (number.hasRemaining()) {
                file.write(number);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
