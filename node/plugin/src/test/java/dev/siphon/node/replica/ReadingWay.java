package dev.siphon.node.replica;

import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.DataFile;
import dev.siphon.node.linux.Programs;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/// A way to read a file of a tree.
enum ReadingWay {
    BUFFERED {
        @Override
        String read(Path file) throws IOException {
            return digest(ByteBuffer.wrap(Files.readAllBytes(file)));
        }
    },
    DIRECT {
        @Override
        String read(Path file) {
            try (Arena arena = Arena.ofConfined();
                    DataFile opened = DataFile.openDirect(file)) {
                MemorySegment buffer = arena.allocate(
                        Math.ceilDiv(opened.size(), DataFile.ALIGNMENT) * DataFile.ALIGNMENT, DataFile.ALIGNMENT);
                long read = opened.read(0, buffer);
                return opened.isDirect() ? digest(buffer.asSlice(0, read).asByteBuffer()) : "not direct";
            }
        }
    },
    MAPPED {
        @Override
        String read(Path file) throws IOException {
            try (Arena arena = Arena.ofConfined();
                    FileChannel opened = FileChannel.open(file)) {
                return digest(opened.map(FileChannel.MapMode.READ_ONLY, 0, opened.size(), arena)
                        .asByteBuffer());
            }
        }
    },
    EXECUTED {
        @Override
        String read(Path file) {
            return Programs.run(file.resolveSibling("program").toString(), file.toString());
        }
    };

    /// Reads the whole file. Returns its digest, or the output of the tree's program for its path.
    abstract String read(Path file) throws IOException;

    private static String digest(ByteBuffer content) {
        return Digest.of(content).hex();
    }

    /// Returns the result of [#read] for a correct file.
    String expected(TestDataset dataset, Path file) {
        return this == EXECUTED
                ? file.toString()
                : dataset.digest(String.valueOf(file.getFileName())).hex();
    }
}
