package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A network learns MNIST by mnist.yaml. Its 70,000 pictures are sealed as the examples' README says. The pod is killed
/// in the middle of the epoch; then mnist-gpu.yaml takes the same checkpoint.
@Tag("kubernetes")
@OnCluster
final class MnistIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final int LEAST = 9_700;
    private static final Pattern RECOGNISED = Pattern.compile("(?m)^([0-9]+) of 10000 recognised$");

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @SuppressWarnings("NullAway.Init")
    private static Run alone;

    @SuppressWarnings("NullAway.Init")
    private static Run withGpu;

    /// What a Job's last pod printed, and the events by which the gate opened for all its pods.
    private record Run(String log, List<String> warm) {
        private static Run of(TestJob job) {
            Run ended = new Run(String.join("\n", job.complete().log()), job.events("DatasetWarm"));
            job.delete();
            return ended;
        }

        private int recognised() {
            Matcher said = RECOGNISED.matcher(log);
            assertTrue(said.find(), log);
            return Integer.parseInt(said.group(1));
        }
    }

    @BeforeAll
    static void train() {
        var _ = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 26);
        dataset = SealedDataset.sealMnist(CLUSTER, tenant).declare(tenant.account());
        var _ = CLUSTER.kubectl(
                "-n", tenant.namespace(), "create", "configmap", "mnist", "--from-file=" + Examples.path("mnist.py"));
        TestJob job = applied("mnist");
        TestPod killed = job.firstPod();
        var _ = killed.says("^saved after 20000 pictures$");
        killed.delete();
        alone = Run.of(job);
        withGpu = Run.of(applied("mnist-gpu"));
    }

    private static TestJob applied(String name) {
        Examples examples = new Examples(tenant);
        CLUSTER.apply(tenant.namespace(), examples.text(name + ".yaml").replace("u1/mnist-v1", dataset.reference()));
        return examples.job(name);
    }

    @AfterAll
    static void end() {
        tenant.close();
        dataset.delete();
    }

    @Test
    void aKilledPodGoesOnFromItsCheckpoint() {
        assertTrue(
                Pattern.compile("^goes on after [2-5]0000 pictures\n(saved after [3-6]0000 pictures\n)+[0-9]+ of")
                        .matcher(alone.log())
                        .find(),
                alone::log);
    }

    @Test
    void itRecognisesDigitsThatItHasNotSeen() {
        assertTrue(alone.recognised() >= LEAST, alone::log);
    }

    @Test
    void aJobWithAGpuGoesOnFromTheSameCheckpoint() {
        assertTrue(withGpu.log().startsWith("goes on after 60000 pictures\n"), withGpu::log);
        assertEquals(alone.recognised(), withGpu.recognised());
    }

    @Test
    void eachPodWaitsUntilThePicturesAreOnADisk() {
        assertEquals(2, alone.warm().size(), alone.warm()::toString);
        assertEquals(1, withGpu.warm().size(), withGpu.warm()::toString);
    }
}
