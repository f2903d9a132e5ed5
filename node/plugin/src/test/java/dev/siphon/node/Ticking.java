package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/// Writes and reads a file repeatedly, like a working pod.
final class Ticking implements AutoCloseable {
    private static final int ROUNDS = 20;

    private final List<IOException> errors = new CopyOnWriteArrayList<>();
    private final AtomicLong rounds = new AtomicLong();
    private final AtomicBoolean done = new AtomicBoolean();
    private final Thread thread;

    Ticking(Path directory) {
        thread = Thread.ofPlatform().start(() -> {
            while (!done.get()) {
                try {
                    round(directory.resolve("tick"));
                } catch (IOException e) {
                    errors.add(e);
                }
                rounds.incrementAndGet();
            }
        });
    }

    private void round(Path file) throws IOException {
        String text = "round " + rounds.get();
        Files.writeString(
                file,
                text,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE,
                StandardOpenOption.SYNC);
        if (!Files.readString(file).equals(text)) {
            throw new IOException("what was read is not what was written");
        }
    }

    /// Waits for some more rounds, and checks that no round has failed since the start.
    void goesOn() {
        long end = rounds.get() + ROUNDS;
        OpsPages.await(() -> rounds.get() >= end);
        assertEquals(List.of(), errors);
    }

    @Override
    public void close() {
        done.set(true);
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
