package dev.siphon.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/// Polls `/proc` for a key in what any user can read about every process.
final class KeyWatch implements AutoCloseable {
    private final AtomicBoolean done = new AtomicBoolean();
    private final Set<String> seen = new ConcurrentSkipListSet<>();
    private final String key;
    private final Thread watcher;

    KeyWatch(String key) {
        this.key = key;
        watcher = Thread.ofPlatform().start(() -> {
            while (!done.get()) {
                look();
            }
        });
    }

    /// Returns where the key was seen so far.
    List<String> seen() {
        look();
        return List.copyOf(seen);
    }

    private void look() {
        try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
            processes
                    .filter(process -> process.getFileName().toString().matches("[0-9]+"))
                    .flatMap(process -> Stream.of(process.resolve("cmdline"), process.resolve("environ")))
                    .filter(file -> holds(file, key))
                    .map(Path::toString)
                    .forEach(seen::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns whether `file` contains the key.
    static boolean holds(Path file, String key) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).contains(key);
        } catch (IOException _) {
            return false; // the process has ended
        }
    }

    @Override
    public void close() {
        done.set(true);
        try {
            watcher.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
