package dev.siphon.node.linux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Stream;

/// Reads memory usage from proc(5).
public final class ProcMemory {
    private static final Path PROC = Path.of("/proc");

    /// The fields of proc_pid_status(5).
    private static final Set<String> PRIVATE = Set.of("RssAnon", "RssShmem");

    private static final Set<String> MACHINE = Set.of("MemTotal");
    private static final int KIB = 1024;

    private ProcMemory() {}

    /// Returns the resident bytes that a process has for itself; 0 if it has ended. Excludes mapped files: all
    /// processes of a program share the memory of its code and libraries.
    ///
    /// @throws UncheckedIOException if the process lives but cannot be read
    public static long bytes(long pid) {
        Path process = PROC.resolve(Long.toString(pid));
        try {
            return sum(process.resolve("status"), PRIVATE);
        } catch (IOException | UncheckedIOException e) {
            if (Files.exists(process)) {
                throw new UncheckedIOException(new IOException("cannot read what memory process " + pid + " has", e));
            }
            return 0;
        }
    }

    /// Returns the machine's memory in bytes, whatever this process's own limit is (proc_meminfo(5)).
    public static long machineBytes() {
        try {
            return sum(PROC.resolve("meminfo"), MACHINE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Sums lines such as `MemTotal:  16265512 kB`, in bytes.
    private static long sum(Path file, Set<String> keys) throws IOException {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.map(line -> line.split(":", 2))
                    .filter(parts -> keys.contains(parts[0]))
                    .mapToLong(parts -> Long.parseLong(parts[1].strip().split(" ", 2)[0]) * KIB)
                    .sum();
        }
    }
}
