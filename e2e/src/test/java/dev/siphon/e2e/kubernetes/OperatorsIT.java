package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Validates the chart's PodMonitors and alerts with the schemas of Prometheus' operator, which does not run.
@Tag("kubernetes")
@OnCluster
final class OperatorsIT {
    private static final Cluster CLUSTER = Cluster.here();

    /// `e2e/kubernetes` puts them there.
    private static final Path DEFINITIONS = CLUSTER.lab().run().resolve("definitions");

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private static Path folder;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @BeforeAll
    static void define() {
        for (String each : List.of("podmonitors", "prometheusrules")) {
            String definition = "monitoring.coreos.com_" + each + ".yaml";
            var _ = CLUSTER.kubectl(
                    "apply",
                    "--server-side",
                    "-f",
                    DEFINITIONS.resolve(definition).toString());
            CLUSTER.awaitEstablished(each + ".monitoring.coreos.com");
        }
        tenant = Tenant.ofAccount(CLUSTER, 65);
    }

    @AfterAll
    static void end() {
        tenant.close();
    }

    @Test
    void thePrometheusOperatorsSchemaTakesMonitorsAndAlerts() throws IOException {
        Command.Result taken = apply(monitoring());

        assertEquals(0, taken.exit(), taken::output);
        assertEquals(3, taken.output().lines().count(), taken::output);
    }

    /// Proves that the test above can fail.
    @Test
    void andNoFieldThatItDoesNotKnow() throws IOException {
        Command.Result refused = apply(monitoring().replace("podMetricsEndpoints:", "podMetricsEndpoint:"));

        assertNotEquals(0, refused.exit(), refused::output);
        assertTrue(refused.output().matches("(?s).*unknown field.*podMetricsEndpoint.*"), refused::output);
    }

    /// Returns the chart's objects of that operator.
    private static String monitoring() {
        String rendered = Chart.rendered(
                "--namespace",
                tenant.namespace(),
                "--set",
                "monitoring.podMonitors=true,monitoring.rules=true,node.http.port=9812,node.http.secretName=siphon-http");
        return Stream.of(rendered.split("(?m)^---$"))
                .filter(each -> each.contains("apiVersion: monitoring.coreos.com/v1"))
                .collect(Collectors.joining("---\n"));
    }

    private static Command.Result apply(String manifest) throws IOException {
        return CLUSTER.tryKubectl(
                "-n",
                tenant.namespace(),
                "apply",
                "--dry-run=server",
                "--validate=strict",
                "-f",
                Files.writeString(folder.resolve("example.yaml"), manifest).toString());
    }
}
