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

/// Which chunks of a replica have been written, in a file beside it, so that a fill goes on where it stopped: the
/// number of each in 4 bytes, in the order in which they were done.
///
/// It is a hint and nothing more. After a power cut it may have what the disk has not, so what it names is read back
/// and checked; what it lacks is fetched once more than needed.
final class ChunkRecord implements AutoCloseable {
    private final FileChannel file;

    private ChunkRecord(FileChannel file) {
        this.file = file;
    }

    /// The chunks that the record at `path` names, below `chunks`; none if there is no record. What was cut off in
    /// the middle of a number, or was never a record, does no harm.
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

    /// How many chunks a record of so many bytes names.
    static long count(long bytes) {
        return bytes / Integer.BYTES;
    }

    /// Begins the record at `path` anew, with `done` in it.
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

    /// Names one more. It is in the file when this returns, though perhaps not on the disk.
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
