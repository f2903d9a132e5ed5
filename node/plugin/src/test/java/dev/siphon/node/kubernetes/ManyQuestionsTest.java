package dev.siphon.node.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.node.pod.Pod;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Pods with hundreds of inline volumes to which the controller never replies. They cost a node little memory, and
/// do not delay others.
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class ManyQuestionsTest {
    private static final int MANY = 500;
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final VolumeId.DatasetVolume VOLUME = new VolumeId.DatasetVolume(
            "lab", "cephfs", "0123456789abcdef".repeat(3).substring(0, 40), Optional.of("0123456789ab"), "/datasets/x");

    @TempDir
    private Path folder = Path.of("");

    private final BlockingQueue<String> refused = new LinkedBlockingQueue<>();

    private static String volume(int number) {
        return "csi-%064x".formatted(number);
    }

    /// Replies only to the pod `served`.
    private static JsonObject answer(JsonObject spec) {
        DatasetAccess.Asked asked = DatasetAccess.Asked.ofSpec(spec);
        return asked.pod().equals("served")
                ? DatasetAccess.Given.encrypt(
                                asked.request(),
                                asked.publicKey(),
                                VOLUME,
                                VolumeContext.fromMap(VOLUME, Map.of("monitors", "10.0.0.1:3300")),
                                "siphon-dataset.x",
                                "AQBdF2FlAAAAABAAjAnnpZ9Yw8bGaf7PPUCYAg==")
                        .toStatus()
                : new JsonObject();
    }

    private void ask(DatasetAccessApi api, int number, Pod pod) {
        try {
            var _ = Replies.opened(api.ask(volume(number), pod, "u1/none", LIMIT));
        } catch (DriverException why) {
            refused.add(why.getClass().getSimpleName() + ": " + why.getMessage());
        }
    }

    /// Checks that the surplus is refused at once, and that another namespace's pod is served while the rest still
    /// wait.
    private void others(IntFunction<Pod> pods, int waiting, String why) throws InterruptedException {
        try (FakeApi server = FakeApi.start();
                ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            server.control(ManyQuestionsTest::answer);
            DatasetAccessApi api = new DatasetAccessApi(
                    new ApiAccess.Kubeconfig(server.kubeconfig(folder)), new NodeId("node-1", Optional.empty()));
            for (int i = 0; i < MANY; i++) {
                int number = i;
                callers.execute(() -> ask(api, number, pods.apply(number)));
            }
            for (int i = 0; i < MANY - waiting; i++) {
                String said = Optional.ofNullable(refused.poll(LIMIT.toSeconds(), TimeUnit.SECONDS))
                        .orElse("nothing");
                assertTrue(said.startsWith("BackendUnavailable: ") && said.contains(why), said);
            }
            assertEquals(
                    VOLUME,
                    Replies.opened(api.ask(volume(MANY), new Pod("u2", "served", "uid-u2"), "u1/x", LIMIT))
                            .volume());
            callers.shutdownNow();
        }
    }

    @Test
    void aPodWithManyHoldsUpNoOther() throws InterruptedException {
        others(
                _ -> new Pod("u1", "many", "uid-1"),
                WaitingQuestions.MOST_OF_A_POD,
                "pod u1/many waits for 16 datasets already");
    }

    @Test
    void aNamespaceWithManyHoldsUpNoOther() throws InterruptedException {
        others(
                number -> new Pod("u1", "pod-" + number, "uid-" + number),
                WaitingQuestions.MOST,
                "this node waits for 64 datasets already");
    }

    @Test
    void aNodeWithItsMemoryLivesThroughAllOfThem() throws Exception {
        try (FakeApi server = FakeApi.startTls(ServerKeys.make(folder))) {
            Files.writeString(folder.resolve("token"), "t0ken");
            Process process =
                    QuestionsProcess.command(server.uri(), folder, MANY).start();
            List<String> said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            assertEquals(0, process.waitFor(), said::toString);
            assertEquals("end", said.getLast(), said::toString);
            assertEquals(
                    MANY,
                    said.stream()
                            .filter(line -> line.startsWith("BackendUnavailable: "))
                            .count(),
                    said::toString);
        }
    }
}
