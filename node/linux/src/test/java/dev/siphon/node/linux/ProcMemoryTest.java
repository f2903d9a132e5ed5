package dev.siphon.node.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class ProcMemoryTest {
    private static final long MUCH = 64 << 20;
    private static final long PID = ProcessHandle.current().pid();

    /// Leaves a margin: other threads of this process may free some memory meanwhile.
    private static final long MOST = MUCH / 4 * 3;

    @Test
    void whatAProcessWritesIntoMemoryIsCounted() {
        long before = ProcMemory.bytes(PID);
        try (Arena arena = Arena.ofConfined()) {
            arena.allocate(MUCH).fill((byte) 1);
            long after = ProcMemory.bytes(PID);
            assertTrue(after > before + MOST, () -> after + " after " + before);
            assertTrue(after < ProcMemory.machineBytes(), () -> after + " of " + ProcMemory.machineBytes());
        }
    }

    @Test
    void whatItHasOfFilesIsNot() throws IOException {
        Path file = Path.of(System.getProperty("java.home"), "lib", "modules");
        try (FileChannel channel = FileChannel.open(file);
                Arena arena = Arena.ofConfined()) {
            long before = ProcMemory.bytes(PID);
            channel.map(FileChannel.MapMode.READ_ONLY, 0, MUCH, arena).load();
            long after = ProcMemory.bytes(PID);
            assertTrue(after < before + MOST, () -> after + " after " + before);
        }
    }

    @Test
    void aProcessThatHasEndedHasNone() throws IOException, InterruptedException {
        Process ended = new ProcessBuilder("true").start();
        assertEquals(0, ended.waitFor());
        assertEquals(0, ProcMemory.bytes(ended.pid()));
    }
}
