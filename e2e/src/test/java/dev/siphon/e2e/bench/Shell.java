package dev.siphon.e2e.bench;

import dev.siphon.e2e.lab.Command;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// Runs the shell commands of a benchmark.
final class Shell {
    private static final Duration LIMIT = Duration.ofMinutes(10);

    private Shell() {}

    /// Runs a script that must succeed; `$1` and so on are the paths.
    ///
    /// @return its output
    static String run(String script, Path... arguments) {
        List<String> words = new ArrayList<>(List.of("sh", "-euc", script, "sh"));
        Stream.of(arguments).map(Path::toString).forEach(words::add);
        return Command.run(LIMIT, words);
    }

    /// Writes back and drops this kernel's page cache.
    static void dropCaches() {
        run("sync; echo 3 > /proc/sys/vm/drop_caches");
    }
}
