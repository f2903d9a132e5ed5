package dev.siphon.node.device.rpc;

import dev.siphon.csi.client.UnixSocketChannel;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.device.AllPodDevices;
import dev.siphon.node.device.HeldDevice;
import dev.siphon.node.device.PodDevices;
import dev.siphon.node.pod.Pod;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import podresources.v1.ContainerDevices;
import podresources.v1.GetPodResourcesRequest;
import podresources.v1.ListPodResourcesRequest;
import podresources.v1.NUMANode;
import podresources.v1.PodResources;
import podresources.v1.PodResourcesListerGrpc;
import podresources.v1.PodResourcesListerGrpc.PodResourcesListerBlockingStub;

/// Queries the kubelet's PodResources API (`podresources.proto`). Opens a connection per query: queries are rare,
/// and a restarted kubelet is then found at once.
///
/// After a timeout, the kubelet is not queried for a while, longer each time. So a hanging kubelet costs 2 s for
/// one pod, not for every pod.
public final class KubeletPodDevices implements PodDevices, AllPodDevices {
    private static final Duration LIMIT = Duration.ofSeconds(2);
    private static final Duration RATE_PAUSE = Duration.ofMillis(50);
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(10);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    /// How long to use List instead of Get, after the kubelet has rejected Get.
    private static final Duration WITHOUT_GET = Duration.ofMinutes(10);

    /// The maximum size of a reply with all pods of a node.
    private static final int MAX_BYTES = 16 << 20;

    private final UnixEndpoint socket;
    private final Counter answers;
    private Duration pause = FIRST_PAUSE;
    private Optional<Long> quietUntil = Optional.empty();
    private Optional<Long> withoutGetUntil = Optional.empty();

    /// @param socket the kubelet's socket; it may be missing at first
    public KubeletPodDevices(UnixEndpoint socket, PrometheusRegistry metrics) {
        this.socket = socket;
        this.answers = Counter.builder()
                .name("siphon_pod_devices_total")
                .help("The kubelet's answers about devices of pods that use datasets: held, none, or unknown.")
                .labelNames("result")
                .register(metrics);
    }

    @Override
    public Answer of(Pod pod) {
        Answer answer = isQuiet()
                ? new Answer.Unknown("the kubelet has not answered for a while, and is asked again later")
                : ask(pod);
        answers.labelValues(
                        switch (answer) {
                            case Answer.Held(var devices) -> devices.isEmpty() ? "none" : "held";
                            case Answer.Unknown _ -> "unknown";
                        })
                .inc();
        return answer;
    }

    @Override
    public Optional<Map<Pod, List<HeldDevice>>> all() {
        if (isQuiet()) {
            return Optional.empty();
        }
        try (UnixSocketChannel channel = UnixSocketChannel.open(socket)) {
            Map<Pod, List<HeldDevice>> all = new HashMap<>();
            stub(channel)
                    .list(ListPodResourcesRequest.getDefaultInstance())
                    .getPodResourcesList()
                    .forEach(pod -> all.put(Pod.named(pod.getNamespace(), pod.getName()), devices(pod)));
            answered();
            return Optional.of(all);
        } catch (StatusRuntimeException e) {
            if (e.getStatus().getCode() == Status.Code.DEADLINE_EXCEEDED) {
                late();
            }
            return Optional.empty();
        }
    }

    private static PodResourcesListerBlockingStub stub(UnixSocketChannel channel) {
        return PodResourcesListerGrpc.newBlockingStub(channel.channel())
                .withMaxInboundMessageSize(MAX_BYTES)
                .withDeadlineAfter(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    }

    private Answer ask(Pod pod) {
        try (UnixSocketChannel channel = UnixSocketChannel.open(socket)) {
            Answer answer = patiently(stub(channel), pod);
            answered();
            return answer;
        } catch (StatusRuntimeException e) {
            if (e.getStatus().getCode() == Status.Code.DEADLINE_EXCEEDED) {
                late();
            }
            return new Answer.Unknown("the kubelet at " + socket.path() + ": "
                    + e.getStatus().getCode() + " " + e.getStatus().getDescription());
        }
    }

    /// Retries while the kubelet's rate limit rejects the call: 100 calls a second for all clients together, in
    /// bursts of 10 (`pkg/kubelet/apis/podresources`, `DefaultQPS`).
    private Answer patiently(PodResourcesListerBlockingStub kubelet, Pod pod) {
        while (true) {
            try {
                return get(kubelet, pod);
            } catch (StatusRuntimeException e) {
                boolean tooMany = e.getStatus().getCode() == Status.Code.RESOURCE_EXHAUSTED
                        && String.valueOf(e.getStatus().getDescription()).contains("rate limit");
                if (!tooMany) {
                    throw e;
                }
                LockSupport.parkNanos(RATE_PAUSE.toNanos()); // until the stub's deadline
            }
        }
    }

    /// Queries one pod. The kubelet returns an error without a code both if Get is disabled and if it does not know
    /// the pod (`pkg/kubelet/apis/podresources/server_v1.go`).
    private Answer get(PodResourcesListerBlockingStub kubelet, Pod pod) {
        if (isBefore(withoutGet())) {
            return list(kubelet, pod);
        }
        try {
            PodResources resources = kubelet.get(GetPodResourcesRequest.newBuilder()
                            .setPodNamespace(pod.namespace())
                            .setPodName(pod.name())
                            .build())
                    .getPodResources();
            return isOf(resources, pod) ? held(resources) : unknown(pod);
        } catch (StatusRuntimeException e) {
            boolean notFound = String.valueOf(e.getStatus().getDescription()).endsWith("not found");
            return switch (e.getStatus().getCode()) {
                case UNKNOWN -> notFound ? unknown(pod) : listFromNow(kubelet, pod);
                case UNIMPLEMENTED -> listFromNow(kubelet, pod);
                case NOT_FOUND -> unknown(pod);
                default -> throw e;
            };
        }
    }

    private Answer listFromNow(PodResourcesListerBlockingStub kubelet, Pod pod) {
        Answer answer = list(kubelet, pod);
        withoutGet(Optional.of(System.nanoTime() + WITHOUT_GET.toNanos()));
        return answer;
    }

    private static Answer list(PodResourcesListerBlockingStub kubelet, Pod pod) {
        return kubelet.list(ListPodResourcesRequest.getDefaultInstance()).getPodResourcesList().stream()
                .filter(each -> isOf(each, pod))
                .findFirst()
                .map(KubeletPodDevices::held)
                .orElseGet(() -> unknown(pod));
    }

    private static boolean isOf(PodResources resources, Pod pod) {
        return resources.getNamespace().equals(pod.namespace())
                && resources.getName().equals(pod.name());
    }

    private static Answer unknown(Pod pod) {
        return new Answer.Unknown("the kubelet knows no pod " + pod.namespace() + "/" + pod.name());
    }

    static Answer held(PodResources pod) {
        return new Answer.Held(devices(pod));
    }

    private static List<HeldDevice> devices(PodResources pod) {
        return pod.getContainersList().stream()
                .flatMap(container -> container.getDevicesList().stream())
                .map(KubeletPodDevices::device)
                .toList();
    }

    private static HeldDevice device(ContainerDevices devices) {
        return new HeldDevice(
                devices.getResourceName(),
                devices.getDeviceIdsList(),
                devices.getTopology().getNodesList().stream()
                        .map(NUMANode::getID)
                        .map(Long::intValue)
                        .collect(Collectors.toSet()));
    }

    private static boolean isBefore(Optional<Long> moment) {
        return moment.filter(until -> System.nanoTime() - until < 0).isPresent();
    }

    private synchronized Optional<Long> withoutGet() {
        return withoutGetUntil;
    }

    private synchronized void withoutGet(Optional<Long> until) {
        withoutGetUntil = until;
    }

    private synchronized boolean isQuiet() {
        return isBefore(quietUntil);
    }

    /// Lengthens the pause after a timeout; concurrent timeouts count once.
    private synchronized void late() {
        if (isQuiet()) {
            return;
        }
        quietUntil = Optional.of(System.nanoTime() + pause.toNanos());
        Duration longer = pause.multipliedBy(2);
        pause = longer.compareTo(LONGEST_PAUSE) < 0 ? longer : LONGEST_PAUSE;
    }

    private synchronized void answered() {
        quietUntil = Optional.empty();
        pause = FIRST_PAUSE;
    }
}
