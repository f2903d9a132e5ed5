package dev.siphon.e2e.monitoring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Daemon;
import dev.siphon.e2e.monitoring.Dashboard.PanelQuery;
import dev.siphon.e2e.monitoring.WatchedDriver.UsedVolume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// A real Prometheus scrapes a controller and a node: each alert of the chart is fired by a real fault and falls silent
/// after it, and each query of the board returns data. The alerts fire after seconds instead of minutes.
@Timeout(600)
@ExtendWith(LeavesNothingBehind.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class MonitoringIT {
    /// The controller looks at the trash every 30 s. Under load, the mgr took two minutes to purge it.
    private static final Duration LIMIT = Duration.ofMinutes(4);

    private static final AlertRules RULES = AlertRules.ofTheChart().hurried();

    private final WatchedDriver driver = new WatchedDriver(RULES);
    private final List<Fault> faults = new Faults(driver).all();

    List<Fault> faults() {
        return faults;
    }

    @AfterAll
    void end() {
        List.of(Daemon.MON, Daemon.LDAP).forEach(Daemon::restore);
        driver.close();
    }

    private Set<String> firing() {
        return driver.prometheus().firing();
    }

    @ParameterizedTest
    @MethodSource("faults")
    void aFaultFiresItsAlertsUntilItIsMended(Fault fault) {
        Await.until("silent before: " + fault, LIMIT, () -> firing().isEmpty());
        Fault.Lasting lasting = fault.begin().get();
        try {
            Await.until(fault + " fires " + fault.alerts(), LIMIT, () -> firing().containsAll(fault.alerts()));
        } finally {
            lasting.mend().run();
        }
        Await.until("silent after: " + fault, LIMIT, () -> Collections.disjoint(firing(), fault.alerts()));
        lasting.clean().run();
    }

    @Test
    void eachAlertHasAFault() {
        Set<String> fired = new TreeSet<>();
        faults.forEach(fault -> fired.addAll(fault.alerts()));
        assertEquals(RULES.names(), fired);
    }

    @Test
    void eachQueryOfTheBoardReturnsData() throws IOException {
        List<PanelQuery> empty = new ArrayList<>(Dashboard.queries());
        assertTrue(empty.size() > 15, empty::toString);
        try (UsedVolume _ = driver.use(Requests.volume("used", "u1", Requests.GIB));
                UsedVolume pictures = driver.useDataset("shown")) {
            Files.readAllBytes(pictures.root().resolve("first"));
            Await.until("data for " + empty, LIMIT, () -> {
                empty.removeIf(
                        query -> !driver.prometheus().values(query.expression()).isEmpty());
                return empty.isEmpty();
            });
        }
    }

    private double value(String query) {
        return driver.prometheus().values(query).stream()
                .mapToDouble(each -> each)
                .sum();
    }

    /// The first file is read while there is no disk, the second from one.
    @Test
    void bytesCountForWhereTheyAreReadFrom() throws IOException {
        driver.restartNode(driver.disk()::remove);
        try (UsedVolume pictures = driver.useDataset("read")) {
            Files.readAllBytes(pictures.root().resolve("first"));
            Await.until("bytes from CephFS", LIMIT, () -> read("remote") >= WatchedDataset.FILE_BYTES);
            assertEquals(0, read("local"));
            driver.restartNode(driver.disk()::replace);
            Await.until("a replica", LIMIT, () -> value("siphon_dataset_attachments{source=\"local\"}") == 1);
            Files.readAllBytes(pictures.root().resolve("second"));
            Await.until("bytes from the disk", LIMIT, () -> read("local") >= WatchedDataset.FILE_BYTES);
            double full = value("100 * siphon_cache_used_bytes / (siphon_cache_used_bytes + siphon_cache_free_bytes)");
            assertTrue(full > 25 && full < 35, "8 of 32 MiB: " + full);
        }
    }

    private double read(String source) {
        return value("siphon_dataset_read_bytes_total{source=\"" + source + "\"}");
    }

    @Test
    void promtoolHasNothingToSayAboutTheMetrics(@TempDir Path folder) throws IOException {
        for (ServedProcess process : List.of(driver.controllerProcess(), driver.nodeProcess())) {
            Path page = Files.writeString(folder.resolve("metrics"), process.metrics());
            Command.Result said = Command.attempt(
                    "bash",
                    "-c",
                    "exec \"$1\" check metrics <\"$2\"",
                    "check",
                    PrometheusProgram.PROMTOOL.path(),
                    page.toString());
            assertEquals(0, said.exit(), said::output);
            assertEquals("", said.output());
        }
    }
}
