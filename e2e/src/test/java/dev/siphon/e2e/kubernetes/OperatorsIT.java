package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.lab.Command;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Validates the examples' PyTorchJob and MPIJob with their operators' schemas; neither operator runs.
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
        for (String each : List.of("pytorchjobs", "mpijobs")) {
            var _ = CLUSTER.kubectl(
                    "apply",
                    "--server-side",
                    "-f",
                    DEFINITIONS.resolve("kubeflow.org_" + each + ".yaml").toString());
            CLUSTER.awaitEstablished(each + ".kubeflow.org");
        }
        tenant = Tenant.ofAccount(CLUSTER, 65);
    }

    @AfterAll
    static void end() {
        tenant.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"pytorchjob.yaml", "mpijob.yaml"})
    void theOperatorsSchemaTakesTheExample(String example) throws IOException {
        Command.Result taken = apply(new Examples(tenant).text(example));

        assertEquals(0, taken.exit(), taken::output);
    }

    /// Proves that the test above can fail.
    @ParameterizedTest
    @ValueSource(strings = {"pytorchjob.yaml", "mpijob.yaml"})
    void andNoWordThatItDoesNotKnow(String example) throws IOException {
        Command.Result refused = apply(new Examples(tenant).text(example).replace("volumeMounts:", "volumeMount:"));

        assertNotEquals(0, refused.exit(), refused::output);
        assertTrue(refused.output().matches("(?s).*unknown field.*volumeMount.*"), refused::output);
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
