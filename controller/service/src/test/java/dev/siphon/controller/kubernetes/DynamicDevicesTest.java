package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.warm.ResourceAmounts;
import dev.siphon.csi.BackgroundTasks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Pods that request GPUs through ResourceClaims, over an API server in memory.
@Timeout(60)
final class DynamicDevicesTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String GROUP = "/apis/resource.k8s.io/v1/";
    private static final String OWN = GROUP + "namespaces/siphon/";

    @TempDir
    private Path folder = Path.of("");

    private final InMemoryApiServer server = new InMemoryApiServer();
    private final AtomicLong now = new AtomicLong();
    private final Map<String, JsonObject> pods = new HashMap<>();
    private Optional<TestCluster> started = Optional.empty();
    private Optional<KubernetesApi> opened = Optional.empty();
    private Optional<DynamicDevices> devices = Optional.empty();

    @BeforeEach
    void start() {
        TestCluster cluster = TestCluster.inMemory(folder, server);
        started = Optional.of(cluster);
        KubernetesApi api = new KubernetesApi(cluster.access(), () -> TestCluster.PATIENT);
        opened = Optional.of(api);
        devices = Optional.of(new DynamicDevices(api, now::get));
        deviceClass("gpu", "device.driver == 'gpu.example.com'");
    }

    @AfterEach
    void stop() {
        opened.ifPresent(KubernetesApi::close);
        started.ifPresent(TestCluster::close);
    }

    private void make(String collection, String object) {
        var _ = started.orElseThrow().admin().raw(collection, "POST", object);
    }

    private void deviceClass(String name, String expression) {
        make(GROUP + "deviceclasses", """
                {"kind": "DeviceClass", "metadata": {"name": "%s"},
                 "spec": {"selectors": [{"cel": {"expression": "%s"}}]}}
                """.formatted(name, expression));
    }

    private void template(String name, String deviceClass, int count) {
        make(OWN + "resourceclaimtemplates", """
                {"kind": "ResourceClaimTemplate", "metadata": {"name": "%s", "namespace": "siphon"},
                 "spec": {"spec": {"devices": {"requests": [
                   {"name": "gpu", "exactly": {"deviceClassName": "%s", "count": %d}}]}}}}
                """.formatted(name, deviceClass, count));
    }

    /// @param node the slice's field that selects its nodes
    private void slice(String pool, int generation, String node, String... more) {
        String devices = IntStream.range(0, 2)
                .mapToObj(index -> "{\"name\": \"gpu-%d\" %s}".formatted(index, String.join("", more)))
                .collect(Collectors.joining(","));
        make(GROUP + "resourceslices", """
                {"kind": "ResourceSlice", "metadata": {"name": "%1$s-%2$d"},
                 "spec": {"driver": "gpu.example.com", %3$s, "pool": {"name": "%1$s", "generation": %2$d},
                          "devices": [%4$s]}}
                """.formatted(pool, generation, node, devices));
    }

    private void slice(String node) {
        slice(node, 1, "\"nodeName\": \"" + node + "\"");
    }

    /// Creates a claim that already has a device.
    private void allocated(String name, String driver, String pool, String more) {
        make(OWN + "resourceclaims", """
                {"kind": "ResourceClaim", "metadata": {"name": "%s", "namespace": "siphon"},
                 "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}},
                 "status": {"allocation": {"devices": {"results": [
                   {"driver": "%s", "pool": "%s", "device": "gpu-0" %s}]}}}}
                """.formatted(name, driver, pool, more));
    }

    private void pod(String uid, String claims) {
        pods.put(uid, JsonParser.parseString("""
                        {"metadata": {"namespace": "siphon", "uid": "%s"}, "spec": {"resourceClaims": [%s]}}
                        """.formatted(uid, claims)).getAsJsonObject());
    }

    private void ofTemplate(String uid, String template) {
        pod(uid, "{\"name\": \"gpu\", \"resourceClaimTemplateName\": \"" + template + "\"}");
    }

    private static String number(ResourceAmounts resources) {
        return Optional.ofNullable(resources.amounts().get("resource.k8s.io/gpu.example.com"))
                .map(String::valueOf)
                .orElse("-");
    }

    /// Returns what all pods need.
    private DynamicDevices.DeviceNeeds all() {
        Map<String, List<PodResourceClaim>> claimed = new HashMap<>();
        pods.forEach((uid, pod) -> claimed.put(uid, PodResourceClaim.of(pod)));
        claimed.values().removeIf(List::isEmpty);
        return devices.orElseThrow().needs(claimed);
    }

    /// Returns what a pod needs.
    private String needs(String uid) {
        return number(all().amounts().getOrDefault(uid, ResourceAmounts.NONE));
    }

    /// Returns a node's used and total devices.
    private String node(String name) {
        return number(devices.orElseThrow().taken(name)) + " of "
                + number(devices.orElseThrow().room(name));
    }

    @Test
    void devicesAreCountedByNode() {
        template("two", "gpu", 2);
        slice("node-1");
        slice("node-2");
        allocated("a", "gpu.example.com", "node-1", "");
        allocated("watching", "gpu.example.com", "node-1", ", \"adminAccess\": true");
        allocated("other", "nic.example.com", "node-1", "");
        ofTemplate("1", "two");
        assertEquals("2", needs("1"));
        assertEquals("1 of 2", node("node-1"));
        assertEquals("- of 2", node("node-2"));
        assertEquals("- of -", node("node-3"));
    }

    @Test
    void aClaimOfAPodIsCountedUntilSomebodyHasItsDevices() {
        make(OWN + "resourceclaims", """
                {"kind": "ResourceClaim", "metadata": {"name": "mine", "namespace": "siphon"},
                 "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}}
                """);
        allocated("shared", "gpu.example.com", "node-1", "");
        slice("node-1");
        pod("1", "{\"name\": \"gpu\", \"resourceClaimName\": \"mine\"}");
        pod("2", "{\"name\": \"gpu\", \"resourceClaimName\": \"shared\"}");
        pod("3", "{\"name\": \"gpu\", \"resourceClaimName\": \"../resourceclaims/mine\"}");
        assertEquals("1", needs("1"));
        assertEquals("-", needs("2"));
        assertEquals("-", needs("3"));
    }

    @Test
    void anOlderGenerationOfAPoolIsNotThereAnyMore() {
        template("one", "gpu", 1);
        slice("node-1", 1, "\"nodeName\": \"node-1\"");
        slice("node-1", 2, "\"nodeName\": \"node-1\"");
        ofTemplate("1", "one");
        assertEquals("1", needs("1"));
        assertEquals("- of 2", node("node-1"));
    }

    @Test
    void whatIsUnlikeDevicesOfNodesIsNotAskedFor() {
        template("one", "gpu", 1);
        ofTemplate("1", "one");
        slice("node-1");
        slice("network", 1, "\"allNodes\": true");
        assertEquals("-", needs("1"));
        assertEquals("- of -", node("node-1"));
    }

    @Test
    void norAreDevicesThatSeveralClaimsHaveAtOnce() {
        template("one", "gpu", 1);
        ofTemplate("1", "one");
        slice("node-1", 1, "\"nodeName\": \"node-1\"", ", \"allowMultipleAllocations\": true");
        assertEquals("-", needs("1"));
    }

    @Test
    void norIsWhatAClassSaysInAnotherWay() {
        deviceClass("odd", "device.driver.startsWith('gpu')");
        template("odd", "odd", 1);
        ofTemplate("1", "odd");
        slice("node-1");
        assertEquals("-", needs("1"));
    }

    @Test
    void whatIsMadeLaterIsSeenTenSecondsLater() {
        slice("node-1");
        ofTemplate("1", "late");
        assertEquals("-", needs("1"));
        template("late", "gpu", 1);
        now.addAndGet(Duration.ofSeconds(11).toNanos());
        assertEquals("1", needs("1"));
        assertEquals("- of 2", node("node-1"));
    }

    private void ofOthers(String namespace, int index) {
        pods.put(
                "other-" + index,
                JsonParser.parseString("""
                        {"metadata": {"namespace": "%1$s", "uid": "other-%2$d"},
                         "spec": {"resourceClaims": [{"resourceClaimTemplateName": "template-%2$d"}]}}
                        """.formatted(namespace, index)).getAsJsonObject());
    }

    @Test
    void theManyTemplatesOfOneNamespaceAreNotAllThatIsRead() {
        template("one", "gpu", 1);
        slice("node-1");
        IntStream.range(0, 500).forEach(index -> ofOthers("other", index));
        var _ = all();
        ofTemplate("1", "one");
        assertEquals("1", needs("1"), "also where they were there before");
    }

    @Test
    void aNamespaceWhoseTemplatesTakeLongIsReadHalfOfTheTime() {
        template("one", "gpu", 1);
        slice("node-1");
        AtomicInteger slow = new AtomicInteger();
        server.refuse(request -> {
            if (request.contains("/namespaces/other/")) {
                slow.incrementAndGet();
                now.addAndGet(Duration.ofMillis(100).toNanos());
            }
            return OptionalInt.empty();
        });
        IntStream.range(0, 100).forEach(index -> ofOthers("other", index));
        ofTemplate("1", "one");
        assertEquals("1", needs("1"));
        assertEquals(25, slow.get(), "2.5 s");
    }

    @Test
    void amongManyNamespacesNoneComesLastEachTime() {
        template("one", "gpu", 1);
        slice("node-1");
        IntStream.range(0, 600).forEach(index -> ofOthers("other-" + index, index));
        ofTemplate("1", "one");
        int counted = 0;
        for (int age = 0; age < 12; age++) {
            counted += needs("1").equals("1") ? 1 : 0;
            now.addAndGet(Duration.ofSeconds(11).toNanos());
        }
        assertTrue(counted >= 2, counted + " of 12");
    }

    @Test
    void whereNobodyAnswersNoPodIsHeldUp() {
        ofTemplate("1", "one");
        server.close();
        assertEquals("-", needs("1"));
        assertEquals("- of -", node("node-1"));
    }

    /// Checks the figures in docs/explanation/gpu-placement.md.
    @Test
    void nothingIsAskedForPodsWithoutClaims() {
        template("one", "gpu", 1);
        slice("node-1");
        pods.put("0", new JsonObject());
        long before = server.requests();
        assertEquals("-", needs("0"));
        assertEquals(before, server.requests());
        IntStream.range(1, 500).forEach(index -> ofTemplate(String.valueOf(index), "one"));
        assertEquals("1", needs("7"));
        assertEquals(before + 4, server.requests(), "template, class, slices, claims");
        assertEquals("1", needs("8"));
        assertEquals(before + 6, server.requests(), "for ten seconds, but for slices and claims, which nobody watches");
    }

    @Test
    void onceTheyAreFollowedNobodyWaitsForTheServer() {
        template("one", "gpu", 1);
        slice("node-1");
        ofTemplate("1", "one");
        CountDownLatch silence = new CountDownLatch(1);
        AtomicInteger lists = new AtomicInteger();
        server.refuse(request -> {
            awaitEnd(silence);
            lists.addAndGet(request.equals("GET " + GROUP + "resourceslices") ? 1 : 0);
            return OptionalInt.empty();
        });
        BackgroundTasks.Task follow = devices.orElseThrow().follow(new BackgroundTasks(), () -> {});
        try {
            assertEquals(Set.of("1"), all().unknown());
            assertEquals("-", needs("1"));
            now.addAndGet(Duration.ofSeconds(6).toNanos());
            assertEquals(Set.of(), all().unknown(), "it waits no longer");
            silence.countDown();
            now.addAndGet(Duration.ofSeconds(11).toNanos()); // the silent request may have used up the time of 10 s
            CephLab.await(SOON, () -> needs("1").equals("1") && node("node-1").equals("- of 2"));
            allocated("a", "gpu.example.com", "node-1", "");
            CephLab.await(SOON, () -> needs("1").equals("1") && node("node-1").equals("1 of 2"));
            assertEquals(1, lists.get());
        } finally {
            silence.countDown();
            follow.close();
        }
    }

    private static void awaitEnd(CountDownLatch silence) {
        try {
            if (!silence.await(20, TimeUnit.SECONDS)) {
                throw new IllegalStateException("it takes too long");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
