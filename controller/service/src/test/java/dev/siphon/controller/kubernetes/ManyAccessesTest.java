package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.dataset.EncryptedSecret;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Thousands of DatasetAccess objects, with and without reply, cost the controller little memory and do not delay
/// others.
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ManyAccessesTest {
    private static final long LIMIT_SECONDS = 20;
    private static final int ANSWERED = 10_000;
    private static final int PODS = 15;
    private static final int VOLUMES = 100;
    private static final String PUBLIC_KEY = new EncryptedSecret.Reader().publicKey();

    @TempDir
    private Path folder = Path.of("");

    private final InMemoryApiServer server = new InMemoryApiServer();
    private Optional<TestCluster> started = Optional.empty();

    @BeforeEach
    void start() {
        started = Optional.of(TestCluster.inMemory(folder, server));
    }

    @AfterEach
    void stop() {
        started.ifPresent(TestCluster::close);
    }

    /// Creates a pod, and its node's question about each of its volumes.
    private void pod(String namespace, String pod, int volumes) {
        String volume = """
                {"name": "data-%d", "csi": {"driver": "cephfs.siphon.dev", "volumeAttributes": {"dataset": "u1/x"}}}
                """;
        server.add("/api/v1/namespaces/" + namespace + "/pods", """
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "%s", "namespace": "%s"},
                 "spec": {"nodeName": "node-1", "volumes": [%s]}}
                """.formatted(
                        pod,
                        namespace,
                        IntStream.range(0, volumes).mapToObj(volume::formatted).collect(Collectors.joining(","))));
        String uid = started.orElseThrow()
                .admin()
                .pods()
                .inNamespace(namespace)
                .withName(pod)
                .get()
                .getMetadata()
                .getUid();
        for (int i = 0; i < volumes; i++) {
            access(namespace, InlinePod.handle(uid, "data-" + i), pod, uid, "{}");
        }
    }

    private void access(String namespace, String name, String pod, String uid, String status) {
        server.add("/apis/siphon.dev/v1alpha1/namespaces/" + namespace + "/datasetaccesses", """
                {"apiVersion": "siphon.dev/v1alpha1", "kind": "DatasetAccess",
                 "metadata": {"name": "%s", "namespace": "%s"},
                 "spec": {"dataset": "u1/x", "node": "node-1", "pod": "%s", "podUID": "%s", "publicKey": "%s",
                          "request": "7"},
                 "status": %s}
                """.formatted(
                        name, namespace, pod, uid, PUBLIC_KEY, status));
    }

    private void namespace(String name) {
        server.add(
                "/api/v1/namespaces",
                "{\"apiVersion\": \"v1\", \"kind\": \"Namespace\", \"metadata\": {\"name\": \"" + name + "\"}}");
    }

    private DatasetRequests requests(DatasetRequests.DatasetOpener opener) {
        KubernetesApi api = new KubernetesApi(started.orElseThrow().access(), () -> TestCluster.PATIENT);
        return new DatasetRequests(api, "cephfs.siphon.dev", new DatasetAccesses(api), opener);
    }

    @Test
    void aPodIsReadOnceForAllItsVolumes() throws Exception {
        AtomicInteger reads = new AtomicInteger();
        server.refuse(request -> {
            if (request.equals("GET /api/v1/namespaces/u1/pods/train")) {
                reads.incrementAndGet();
            }
            return OptionalInt.empty();
        });
        namespace("u1");
        pod("u1", "train", 8);
        reads.set(0);
        CountDownLatch opened = new CountDownLatch(8);
        try (DatasetRequests requests = requests((_, _) -> {
            opened.countDown();
            return TenantObjectsProcess.OPENED;
        })) {
            var _ = requests.start(new BackgroundTasks());
            assertTrue(opened.await(LIMIT_SECONDS, TimeUnit.SECONDS));
            assertEquals(1, reads.get());
        }
    }

    @Test
    void aNamespaceWithManyQuestionsHoldsUpNoOther() throws Exception {
        namespace("u1");
        namespace("u2");
        pod("u1", "many", VOLUMES);
        pod("u2", "train", 1);
        CountDownLatch served = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        try (DatasetRequests requests = requests((_, pod) -> {
            if (pod.namespace().equals("u2")) {
                served.countDown();
            } else {
                await(end);
            }
            return TenantObjectsProcess.OPENED;
        })) {
            var _ = requests.start(new BackgroundTasks());
            assertTrue(served.await(LIMIT_SECONDS, TimeUnit.SECONDS), "u2 waits for u1");
        } finally {
            end.countDown();
        }
    }

    /// Blocks, like Ceph without a reply.
    private static void await(CountDownLatch end) {
        try {
            end.await();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void theControllerLivesThroughAllOfThemAndAnswersEach() throws Exception {
        namespace("u1");
        for (int i = 0; i < ANSWERED; i++) {
            access("u1", "csi-%064x".formatted(i), "gone", "uid-gone", """
                    {"request": "7", "volume": "v", "userID": "siphon-dataset.x", "sealedKey": "%s",
                     "context": {"monitors": "%s"}}
                    """.formatted(
                            "k".repeat(200), "10.0.0.1:3300,".repeat(20)));
        }
        for (int i = 0; i < PODS; i++) {
            pod("u1", "train-" + i, VOLUMES);
        }
        Set<String> answered = new HashSet<>();
        CountDownLatch left = new CountDownLatch(PODS * VOLUMES);
        server.refuse(request -> {
            if (request.startsWith("PATCH ") && answered.add(request)) {
                left.countDown();
            }
            return OptionalInt.empty();
        });
        Path log = folder.resolve("log");
        Process process = TenantObjectsProcess.withItsMemory(
                        AccessesProcess.class, folder.resolve("kubeconfig").toString())
                .redirectOutput(log.toFile())
                .start();
        try {
            var _ = process.onExit()
                    .thenRun(() -> LongStream.range(0, left.getCount()).forEach(_ -> left.countDown()));
            assertTrue(left.await(90, TimeUnit.SECONDS), () -> left.getCount() + " are left");
            assertTrue(process.isAlive(), () -> tail(log));
        } finally {
            process.getOutputStream().close();
        }
        assertEquals(0, process.waitFor());
    }

    private static String tail(Path log) {
        try (Stream<String> lines = Files.lines(log)) {
            return String.valueOf(lines.reduce((_, last) -> last));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
