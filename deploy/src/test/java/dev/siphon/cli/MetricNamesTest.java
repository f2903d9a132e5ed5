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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that the documents tell of each metric, and that alerts and board name no other.
final class MetricNamesTest {
    private static final Pattern REGISTERED = Pattern.compile("\"(siphon_[a-z_]+)\"");
    private static final Pattern QUERIED = Pattern.compile("\\b(siphon_[a-z_]+?)(?:_bucket|_sum|_count)?\\b");

    @Test
    void eachMetricIsDocumented() {
        Set<String> metrics = registered();
        assertTrue(metrics.contains("siphon_ready"), metrics::toString);
        String documents =
                files(Path.of("..", "docs"), ".md").map(MetricNamesTest::text).collect(Collectors.joining());
        metrics.removeIf(documents::contains);
        assertEquals(Set.of(), metrics, "in no document");
    }

    @ParameterizedTest
    @ValueSource(strings = {"alerts.yaml", "dashboard.json"})
    void aQueryNamesOnlyMetricsThatExist(String file) {
        Set<String> queried = names(QUERIED, text(Path.of("chart", "files", file)));
        assertTrue(queried.contains("siphon_ready"), queried::toString);
        queried.removeAll(registered());
        assertEquals(Set.of(), queried, "registered nowhere");
    }

    private static Set<String> registered() {
        return Stream.of("csi-proto", "controller", "node")
                .flatMap(module -> files(Path.of("..", module), ".java"))
                .filter(file -> file.toString().contains("/src/main/"))
                .flatMap(file -> names(REGISTERED, text(file)).stream())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> names(Pattern pattern, String text) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult found) -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Stream<Path> files(Path folder, String ending) {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(file -> file.toString().endsWith(ending)).toList().stream();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
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
