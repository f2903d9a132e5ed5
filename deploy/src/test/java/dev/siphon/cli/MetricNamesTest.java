package dev.siphon.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Checks that the documents tell of each metric.
final class MetricNamesTest {
    private static final Pattern NAME = Pattern.compile("\"(siphon_[a-z_]+)\"");

    @Test
    void eachMetricIsDocumented() throws IOException {
        Set<String> metrics = new TreeSet<>();
        for (String module : new String[] {"csi-proto", "controller", "node"}) {
            files(Path.of("..", module), ".java")
                    .filter(file -> file.toString().contains("/src/main/"))
                    .forEach(file -> NAME.matcher(text(file))
                            .results()
                            .map((MatchResult found) -> found.group(1))
                            .forEach(metrics::add));
        }
        assertTrue(metrics.contains("siphon_ready"), metrics::toString);
        String documents =
                files(Path.of("..", "docs"), ".md").map(MetricNamesTest::text).collect(Collectors.joining());
        metrics.removeIf(documents::contains);
        assertEquals(Set.of(), metrics, "in no document");
    }

    private static Stream<Path> files(Path folder, String ending) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(file -> file.toString().endsWith(ending)).toList().stream();
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }
}
