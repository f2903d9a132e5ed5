package dev.siphon.e2e.monitoring;

import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// A file of alerts, as Prometheus reads it.
record AlertRules(String text) {
    private static final Pattern ALERT = Pattern.compile("- alert: (\\w+)");
    private static final Pattern PATIENCE = Pattern.compile("(?m)^( +for:) \\d+m$");

    /// The seconds that expressions name, and what a test waits instead.
    private static final Map<String, String> SECONDS = Map.of("> 600", "> 8", "> 900", "> 5");

    /// Returns the chart's alerts.
    static AlertRules ofTheChart() {
        try {
            return new AlertRules(Files.readString(Project.folder().resolve("deploy/chart/files/alerts.yaml")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns the names of the alerts.
    Set<String> names() {
        return ALERT.matcher(text)
                .results()
                .map((MatchResult found) -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /// Returns the same alerts, which fire after seconds instead of minutes. `AlertRulesIT` tests the minutes.
    AlertRules hurried() {
        String hurried = PATIENCE.matcher(text).replaceAll("$1 2s");
        for (Map.Entry<String, String> each : SECONDS.entrySet()) {
            if (!hurried.contains(each.getKey())) {
                throw new IllegalStateException("no alert has " + each.getKey() + " any more: correct this class");
            }
            hurried = hurried.replace(each.getKey(), each.getValue());
        }
        return new AlertRules(hurried);
    }
}
