package dev.siphon.node.device.rpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.csi.server.UnixSocketServer;
import dev.siphon.node.device.HeldDevice;
import dev.siphon.node.device.PodDevices.Answer;
import dev.siphon.node.pod.Pod;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import podresources.v1.ContainerDevices;
import podresources.v1.ContainerResources;
import podresources.v1.GetPodResourcesRequest;
import podresources.v1.GetPodResourcesResponse;
import podresources.v1.ListPodResourcesRequest;
import podresources.v1.ListPodResourcesResponse;
import podresources.v1.NUMANode;
import podresources.v1.PodResources;
import podresources.v1.PodResourcesListerGrpc;
import podresources.v1.TopologyInfo;

/// Against a fake kubelet; e2e/kubernetes covers the real one.
@Timeout(30)
final class KubeletPodDevicesTest {
    private static final PodResources TRAIN = PodResources.newBuilder()
            .setNamespace("u1")
            .setName("train")
            .addContainers(ContainerResources.newBuilder()
                    .setName("one")
                    .addDevices(devices("nvidia.com/gpu", 0, "GPU-1", "GPU-2"))
                    .addDevices(ContainerDevices.newBuilder()
                            .setResourceName("rdma/hca")
                            .addDeviceIds("mlx5_0")))
            .addContainers(
                    ContainerResources.newBuilder().setName("two").addDevices(devices("nvidia.com/gpu", 1, "GPU-3")))
            .build();
    private static final Answer HELD = new Answer.Held(List.of(
            new HeldDevice("nvidia.com/gpu", List.of("GPU-1", "GPU-2"), Set.of(0)),
            new HeldDevice("rdma/hca", List.of("mlx5_0"), Set.of()),
            new HeldDevice("nvidia.com/gpu", List.of("GPU-3"), Set.of(1))));

    @TempDir
    private Path folder = Path.of("");

    private final PrometheusRegistry metrics = new PrometheusRegistry();
    private final List<String> asked = Collections.synchronizedList(new ArrayList<>());
    private Optional<KubeletPodDevices> client = Optional.empty();

    private static ContainerDevices.Builder devices(String resource, int node, String... ids) {
        return ContainerDevices.newBuilder()
                .setResourceName(resource)
                .addAllDeviceIds(List.of(ids))
                .setTopology(
                        TopologyInfo.newBuilder().addNodes(NUMANode.newBuilder().setID(node)));
    }

    /// A kubelet with configurable replies.
    private final class Kubelet extends PodResourcesListerGrpc.PodResourcesListerImplBase {
        private final Consumer<StreamObserver<GetPodResourcesResponse>> get;

        Kubelet(Consumer<StreamObserver<GetPodResourcesResponse>> get) {
            this.get = get;
        }

        @Override
        public void get(GetPodResourcesRequest request, StreamObserver<GetPodResourcesResponse> observer) {
            asked.add("get " + request.getPodNamespace() + "/" + request.getPodName());
            get.accept(observer);
        }

        @Override
        public void list(ListPodResourcesRequest request, StreamObserver<ListPodResourcesResponse> observer) {
            asked.add("list");
            observer.onNext(ListPodResourcesResponse.newBuilder()
                    .addPodResources(TRAIN.toBuilder().setNamespace("u2").clearContainers())
                    .addPodResources(TRAIN)
                    .build());
            observer.onCompleted();
        }
    }

    private UnixEndpoint socket() {
        return new UnixEndpoint(folder.resolve("kubelet.sock"));
    }

    private UnixSocketServer kubelet(Consumer<StreamObserver<GetPodResourcesResponse>> get) {
        return UnixSocketServer.start(socket(), List.of(new Kubelet(get).bindService()), List.of());
    }

    private static void answer(StreamObserver<GetPodResourcesResponse> observer, PodResources pod) {
        observer.onNext(
                GetPodResourcesResponse.newBuilder().setPodResources(pod).build());
        observer.onCompleted();
    }

    private static void refuse(StreamObserver<GetPodResourcesResponse> observer, Status status) {
        observer.onError(status.asRuntimeException());
    }

    private Answer ask() {
        if (client.isEmpty()) {
            client = Optional.of(new KubeletPodDevices(socket(), metrics));
        }
        return client.get().of(Pod.named("u1", "train"));
    }

    private String unknown() {
        return assertInstanceOf(Answer.Unknown.class, ask()).why();
    }

    private double answers(String result) {
        return metrics.scrape("siphon_pod_devices_total"::startsWith).stream()
                .map(CounterSnapshot.class::cast)
                .flatMap(snapshot -> snapshot.getDataPoints().stream())
                .filter(point -> result.equals(point.getLabels().get("result")))
                .mapToDouble(CounterSnapshot.CounterDataPointSnapshot::getValue)
                .sum();
    }

    @Test
    void allPodsAreListedAtOnce() {
        try (UnixSocketServer _ = kubelet(observer -> answer(observer, TRAIN))) {
            KubeletPodDevices kubelet = new KubeletPodDevices(socket(), metrics);
            assertEquals(
                    Optional.of(Map.of(
                            Pod.named("u1", "train"),
                            ((Answer.Held) HELD).devices(),
                            Pod.named("u2", "train"),
                            List.<HeldDevice>of())),
                    kubelet.all());
            assertEquals(List.of("list"), asked);
        }
    }

    @Test
    void whereThereIsNoKubeletNothingIsKnownOfAnyPod() {
        assertEquals(Optional.empty(), new KubeletPodDevices(socket(), metrics).all());
    }

    @Test
    void thePodsDevicesAreThoseOfAllItsContainers() {
        try (UnixSocketServer _ = kubelet(observer -> answer(observer, TRAIN))) {
            assertEquals(HELD, ask());
            assertEquals(List.of("get u1/train"), asked);
            assertEquals(1, answers("held"));
        }
    }

    @Test
    void aPodMayHoldNone() {
        try (UnixSocketServer _ = kubelet(
                observer -> answer(observer, TRAIN.toBuilder().clearContainers().build()))) {
            assertEquals(new Answer.Held(List.of()), ask());
            assertEquals(1, answers("none"));
        }
    }

    @Test
    void aKubeletWithoutGetIsAskedForAllAndFromThenOnAtOnce() {
        try (UnixSocketServer _ = kubelet(observer -> refuse(observer, Status.UNIMPLEMENTED))) {
            assertEquals(HELD, ask());
            assertEquals(HELD, ask());
        }
        assertEquals(List.of("get u1/train", "list", "list"), asked);
    }

    @Test
    void oneThatHasGetSwitchedOffToo() {
        try (UnixSocketServer _ = kubelet(
                observer -> refuse(observer, Status.UNKNOWN.withDescription("PodResources API Get method disabled")))) {
            assertEquals(HELD, ask());
        }
        assertEquals(List.of("get u1/train", "list"), asked);
    }

    @Test
    void anErrorWithoutACodeMayMeanThatThereIsNoSuchPod() {
        try (UnixSocketServer _ = kubelet(
                observer -> refuse(observer, Status.UNKNOWN.withDescription("pod train in namespace u1 not found")))) {
            assertEquals("the kubelet knows no pod u1/train", unknown());
        }
        assertEquals(List.of("get u1/train"), asked);
    }

    @Test
    void whatIsSaidOfAnotherPodIsNotBelieved() {
        try (UnixSocketServer _ = kubelet(
                observer -> answer(observer, TRAIN.toBuilder().setName("other").build()))) {
            assertEquals("the kubelet knows no pod u1/train", unknown());
        }
    }

    @Test
    void aPodThatItDoesNotKnowIsNoFailure() {
        try (UnixSocketServer _ = kubelet(observer -> refuse(observer, Status.NOT_FOUND))) {
            assertEquals("the kubelet knows no pod u1/train", unknown());
            assertEquals(1, answers("unknown"));
        }
        try (UnixSocketServer _ = kubelet(observer -> answer(observer, TRAIN))) {
            assertEquals(HELD, ask(), "asked at once the next time");
        }
    }

    @Test
    void oneThatIsNotThereIsAskedAgainWithEachPod() {
        assertTrue(unknown().contains("UNAVAILABLE"));
        try (UnixSocketServer _ = kubelet(observer -> answer(observer, TRAIN))) {
            assertEquals(HELD, ask());
        }
    }

    @Test
    void oneThatHangsCostsOnePodTwoSecondsAndTheNextNothing() {
        try (UnixSocketServer _ = kubelet(_ -> {})) {
            long begun = System.nanoTime();
            assertTrue(unknown().contains("DEADLINE_EXCEEDED"));
            long first = System.nanoTime() - begun;
            assertTrue(
                    first < Duration.ofMillis(2900).toNanos(),
                    () -> Duration.ofNanos(first).toString());
            for (int i = 0; i < 50; i++) {
                assertTrue(unknown().contains("asked again later"));
            }
            long rest = System.nanoTime() - begun - first;
            assertTrue(
                    rest < Duration.ofMillis(500).toNanos(),
                    () -> Duration.ofNanos(rest).toString());
            assertEquals(1, asked.size());
        }
    }

    @Test
    void oneThatTakesConnectionsAndSaysNothingHangsToo() throws IOException {
        try (ServerSocketChannel silent = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            silent.bind(UnixDomainSocketAddress.of(socket().path()));
            long begun = System.nanoTime();
            assertTrue(unknown().contains("DEADLINE_EXCEEDED"));
            long took = System.nanoTime() - begun;
            assertTrue(
                    took < Duration.ofMillis(2900).toNanos(),
                    () -> Duration.ofNanos(took).toString());
        }
    }

    @Test
    void whatIsNoKubeletIsNotBelieved() throws IOException, InterruptedException {
        try (ServerSocketChannel other = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            other.bind(UnixDomainSocketAddress.of(socket().path()));
            Thread web = Thread.ofVirtual().start(() -> {
                try (SocketChannel caller = other.accept()) {
                    caller.write(
                            ByteBuffer.wrap("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            assertTrue(unknown().startsWith("the kubelet at " + socket().path()));
            web.join();
        }
    }

    @Test
    void oneThatTakesFewCallsASecondIsAskedAgainInTime() {
        AtomicInteger calls = new AtomicInteger();
        try (UnixSocketServer _ = kubelet(observer -> {
            if (calls.incrementAndGet() < 4) {
                refuse(observer, Status.RESOURCE_EXHAUSTED.withDescription("rejected by rate limit"));
            } else {
                answer(observer, TRAIN);
            }
        })) {
            assertEquals(HELD, ask());
            assertEquals(4, calls.get());
        }
    }

    @Test
    void anAnswerOfAnySizeIsNotTaken() {
        PodResources large = TRAIN.toBuilder()
                .addContainers(ContainerResources.newBuilder().setName("x".repeat(17 << 20)))
                .build();
        try (UnixSocketServer _ = kubelet(observer -> answer(observer, large))) {
            assertTrue(unknown().contains("RESOURCE_EXHAUSTED"));
        }
    }
}
