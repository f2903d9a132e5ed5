package dev.siphon.node.kubernetes;

import dev.siphon.csi.NodeId;
import dev.siphon.node.device.DeviceClaims.Answer;
import dev.siphon.node.pod.Pod;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/// A process with a node's memory. It reads the claims of one pod in each of several namespaces at once, prints the
/// results, then `end`.
final class ClaimsProcess {
    private static final int AT_ONCE = 4;

    private ClaimsProcess() {}

    /// @param namespaces the arguments after the kubeconfig
    static ProcessBuilder command(Path kubeconfig, String... namespaces) {
        ProcessBuilder command = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xms8m",
                "-Xmx48m",
                "-Xmn2m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:+ExitOnOutOfMemoryError",
                "-cp",
                System.getProperty("java.class.path"),
                ClaimsProcess.class.getName(),
                kubeconfig.toString());
        command.command().addAll(Arrays.asList(namespaces));
        return command.redirectErrorStream(true);
    }

    /// @param arguments the kubeconfig, then namespaces
    public static void main(String[] arguments) throws InterruptedException {
        ResourceClaimsApi claims = new ResourceClaimsApi(
                new ApiAccess.Kubeconfig(Path.of(arguments[0])),
                new NodeId("n", Optional.empty()),
                new PrometheusRegistry());
        CountDownLatch left = new CountDownLatch((arguments.length - 1) * AT_ONCE);
        for (int number = 0; number < (arguments.length - 1) * AT_ONCE; number++) {
            String namespace = arguments[1 + number / AT_ONCE];
            Thread.startVirtualThread(() -> {
                Answer answer = claims.of(Pod.named(namespace, "train"), Duration.ofSeconds(60));
                System.out.println(namespace + " " + answer);
                left.countDown();
            });
        }
        left.await();
        System.out.println("end");
    }
}
