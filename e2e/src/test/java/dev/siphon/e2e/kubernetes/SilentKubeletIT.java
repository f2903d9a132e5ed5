package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A kubelet that does not report which GPUs a pod holds: no pod waits for it.
@Tag("kubernetes")
@AloneOnCluster
final class SilentKubeletIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final Path SILENT = Path.of("/var/lib/siphon/silent.sock");
    private static final String ASKED = "SIPHON_POD_RESOURCES=";

    /// The plugin's timeout is 2 s; the rest is for other load on the machine.
    private static final double LONGER_SECONDS = 3;

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    private static double usualSeconds;

    @BeforeAll
    static void seal() {
        siphon = Installation.in(CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 43);
        dataset = SealedDataset.seal(CLUSTER, tenant).declare(tenant.account());
        // each measured pod is the first of a new plugin, which takes a second longer than later ones
        siphon.restartNodes();
        usualSeconds = seconds("usual");
    }

    @AfterAll
    static void end() {
        siphon.setNodeEnvironment(ASKED + "/var/lib/kubelet/pod-resources/kubelet.sock");
        tenant.close();
        dataset.delete();
    }

    @Test
    void aPodDoesNotWaitForOneThatDoesNotAnswer() throws IOException {
        Files.deleteIfExists(SILENT);
        try (ServerSocketChannel silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            var _ = silent.bind(UnixDomainSocketAddress.of(SILENT));
            siphon.setNodeEnvironment(ASKED + SILENT);

            assertAsFastAsUsual(seconds("hung"));
        }
    }

    @Test
    void norForOneThatIsNotThere() {
        siphon.setNodeEnvironment(ASKED + "/var/lib/siphon/nobody.sock");

        assertAsFastAsUsual(seconds("absent"));
    }

    private static void assertAsFastAsUsual(double seconds) {
        assertTrue(seconds < usualSeconds + LONGER_SECONDS, () -> seconds + " s, usually " + usualSeconds + " s");
    }

    /// Returns the seconds from the request for a pod with one GPU to its first command.
    private static double seconds(String name) {
        double begun = uptime(read(Path.of("/proc/uptime")));
        TestPod pod = tenant.pod(name, "cat /proc/uptime; cat /data/two/7")
                .withDataset(dataset.reference())
                .withGpus(1)
                .create()
                .succeeded();
        double ran = uptime(pod.log());
        pod.delete();
        return ran - begun;
    }

    private static double uptime(String text) {
        return Double.parseDouble(text.split(" ", 2)[0]);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
