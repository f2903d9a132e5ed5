package dev.siphon.node.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.node.device.DeviceClaims.Answer;
import dev.siphon.node.pod.Pod;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Objects that tenants create in their namespaces cost a node little memory, and do not affect others.
@Timeout(120)
final class ManyClaimsTest {
    /// Bytes buffered in sockets and in the client for a reader that has stopped reading.
    private static final long ON_THE_WAY = 16 << 20;

    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    private Path folder = Path.of("");

    private Optional<ManyClaims> started = Optional.empty();

    @BeforeEach
    void start() throws IOException {
        started = Optional.of(new ManyClaims());
    }

    @AfterEach
    void stop() {
        started.ifPresent(ManyClaims::close);
    }

    private ManyClaims api() {
        return started.orElseThrow();
    }

    private Path kubeconfig() throws IOException {
        return Files.writeString(folder.resolve("kubeconfig"), """
                apiVersion: v1
                kind: Config
                clusters: [{name: lab, cluster: {server: "%s"}}]
                users: [{name: node, user: {token: s3cret}}]
                contexts: [{name: lab, context: {cluster: lab, user: node}}]
                current-context: lab
                """.formatted(api().uri()));
    }

    private ResourceClaimsApi claims() throws IOException {
        return new ResourceClaimsApi(
                new ApiAccess.Kubeconfig(kubeconfig()), new NodeId("n", Optional.empty()), new PrometheusRegistry());
    }

    private static Pod train(String namespace) {
        return Pod.named(namespace, "train");
    }

    @Test
    void aNodeWithItsMemoryLivesThroughAllOfThem() throws IOException, InterruptedException {
        Process process = ClaimsProcess.command(
                        kubeconfig(), "honest", "large", "too-many", "endless-text", "endless-items", "endless-nothing")
                .start();
        List<String> said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList();
        assertEquals(0, process.waitFor(), said::toString);
        assertEquals("end", said.getLast(), said::toString);
        Stream.of("honest", "large")
                .forEach(well -> assertEquals(
                        4,
                        said.stream()
                                .filter(line -> line.startsWith(well + " Held") && line.contains("n/gpu-0"))
                                .count(),
                        said::toString));
        assertEquals(
                16,
                said.stream()
                        .filter(line -> line.contains(" Unknown[why=what is at "))
                        .count(),
                said::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"too-many", "endless-text", "endless-items", "endless-nothing"})
    void noMoreIsFetchedThanIsReadAndNotAgain(String namespace) throws IOException {
        ResourceClaimsApi claims = claims();
        Answer answer = claims.of(train(namespace), LIMIT);
        assertTrue(
                assertInstanceOf(Answer.Unknown.class, answer).why().contains("more than "), () -> answer.toString());
        assertTrue(api().sent() < ClaimsQuestion.MOST_BYTES + ON_THE_WAY, () -> api().sent() + " bytes");
        long asked = api().asked();
        assertEquals(answer, claims.of(train(namespace), LIMIT));
        assertEquals(asked, api().asked(), "left alone");
        assertInstanceOf(Answer.Held.class, claims.of(train("honest"), LIMIT), "which is no other namespace's fault");
    }

    @Test
    void pagesWithoutEndEndWithTheTime() throws IOException {
        ResourceClaimsApi claims = claims();
        long begun = System.nanoTime();
        assertInstanceOf(Answer.Unknown.class, claims.of(train("endless-pages"), Duration.ofMillis(700)));
        assertEquals(0, Duration.ofNanos(System.nanoTime() - begun).toSeconds() / 5, "and not much later");
    }

    @Test
    void answersOfOtherKindsHaveAnEndToo() throws IOException {
        try (ApiConnection connection = ApiConnection.to(new ApiAccess.Kubeconfig(kubeconfig()))) {
            String path = "/apis/resource.k8s.io/v1/namespaces/endless-text/resourceclaims?limit=1";
            String lines = path.replace("endless-text", "endless-nothing");
            for (Runnable each : List.<Runnable>of(
                    () -> connection.get(path),
                    () -> connection.send(path, request -> request),
                    () -> connection.lines(lines, LIMIT, _ -> {}))) {
                long before = api().sent();
                assertTrue(assertThrows(DriverException.BackendFault.class, each::run)
                        .getMessage()
                        .contains("more than 512 KiB"));
                assertTrue(api().sent() - before < ApiConnection.MOST_BYTES + ON_THE_WAY);
            }
        }
    }
}
