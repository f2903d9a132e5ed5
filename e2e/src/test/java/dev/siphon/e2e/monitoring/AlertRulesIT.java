package dev.siphon.e2e.monitoring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// promtool checks the chart's alerts, and runs `e2e/monitoring.d/alerts.test.yaml` on them.
@Timeout(60)
final class AlertRulesIT {
    private static final AlertRules RULES = AlertRules.ofTheChart();
    private static final String TESTS = "alerts.test.yaml";

    @TempDir
    private Path folder = Path.of("");

    static Set<String> alerts() {
        return RULES.names();
    }

    @BeforeEach
    void copyTests() throws IOException {
        Files.copy(
                Project.folder().resolve("e2e/monitoring.d").resolve(TESTS),
                folder.resolve(TESTS),
                StandardCopyOption.REPLACE_EXISTING);
    }

    private Command.Result promtool(AlertRules rules, String verb, String file) throws IOException {
        Files.writeString(folder.resolve("alerts.yaml"), rules.text());
        return Command.attempt(
                PrometheusProgram.PROMTOOL.path(),
                verb,
                "rules",
                folder.resolve(file).toString());
    }

    @Test
    void theRulesAreWellFormed() throws IOException {
        Command.Result said = promtool(RULES, "check", "alerts.yaml");
        assertEquals(0, said.exit(), said::output);
    }

    @Test
    void eachAlertFiresInItsTimeAndFallsSilent() throws IOException {
        Command.Result said = promtool(RULES, "test", TESTS);
        assertEquals(0, said.exit(), said::output);
    }

    /// Returns the rules in which `pattern` is replaced within one alert.
    private static AlertRules bent(String alert, String pattern, String replacement) {
        int begin = RULES.text().indexOf("- alert: " + alert + "\n");
        int end = RULES.text().indexOf("annotations:", begin);
        String bent = Pattern.compile(pattern)
                .matcher(RULES.text().substring(begin, end))
                .replaceAll(replacement);
        return new AlertRules(
                RULES.text().substring(0, begin) + bent + RULES.text().substring(end));
    }

    @ParameterizedTest
    @MethodSource("alerts")
    void theTestsFindAnAlertThatNeverFires(String alert) throws IOException {
        AlertRules never = bent(alert, "expr: .*", "expr: vector(0) > 1");
        assertNotEquals(RULES, never);
        assertNotEquals(0, promtool(never, "test", TESTS).exit());
    }

    /// An alert without patience has another threshold.
    @ParameterizedTest
    @MethodSource("alerts")
    void theTestsFindAnAlertThatFiresTooEarly(String alert) throws IOException {
        AlertRules early = bent(alert, "for: \\d+m|> 600|== 0(?=\\n +labels)", "");
        assertNotEquals(RULES, early);
        assertNotEquals(0, promtool(early, "test", TESTS).exit());
    }
}
