package dev.siphon.node.kubernetes;

import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.node.device.DeviceClaims;
import dev.siphon.node.pod.Pod;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Devices of pods, by ResourceClaims of the pod's namespace that are reserved for it, and ResourceSlices of this node.
/// Where drivers have no devices on this node, that costs a pod one request, and nobody's claims are looked at;
/// elsewhere
/// one or two. It does not read pods, whose specs hold more than whoever places data has to know.
///
/// Claims are made by those who use a namespace. So one question is asked after the other, and of none more is kept
/// than what the pod was allocated ([ClaimsQuestion]); a namespace whose claims are too many is left alone for a
/// minute, alone.
///
/// A cluster that has no such objects, or does not let this node read them, is asked again a minute later. One that
/// does not answer is left alone for some seconds: it costs one pod the time, and not each.
public final class ResourceClaimsApi implements DeviceClaims {
    private static final Logger LOG = LoggerFactory.getLogger(ResourceClaimsApi.class);

    /// A device's attributes do not change while a pod has it.
    private static final Duration LASTS = Duration.ofMinutes(1);

    private static final Duration AFTER_SILENCE = Duration.ofSeconds(10);
    private static final Duration AFTER_REFUSAL = Duration.ofMinutes(1);
    private static final Duration AFTER_TOO_MUCH = Duration.ofMinutes(1);

    /// Of one pod, far more than it can use.
    private static final int MOST_DEVICES = 1024;

    /// Of which it is known that they are to be left alone, before those of which that is over are forgotten.
    private static final int MOST_NAMESPACES = 256;

    private final ApiAccess access;
    private final NodeId node;
    private final Counter answers;
    private final ReentrantLock asking = new ReentrantLock();
    private final Map<String, Quiet> quietNamespaces = new HashMap<>();
    private NodeDevices devices = NodeDevices.NONE;
    private long devicesUntil = System.nanoTime();
    private Optional<Quiet> quiet = Optional.empty();

    /// Until when nobody is asked.
    ///
    /// @param end by [System#nanoTime]
    private record Quiet(long end, Answer answer) {
        boolean isOver() {
            return end - System.nanoTime() <= 0;
        }
    }

    /// @param node whose slices are read; called as Kubernetes calls it
    public ResourceClaimsApi(ApiAccess access, NodeId node, PrometheusRegistry metrics) {
        this.access = access;
        this.node = node;
        this.answers = Counter.builder()
                .name("siphon_pod_claims_total")
                .help("ResourceClaims' answers about devices of pods that use datasets but hold no GPU by the"
                        + " kubelet: held, none, or unknown.")
                .labelNames("result")
                .register(metrics);
    }

    @Override
    public Answer of(Pod pod, Duration limit) {
        Answer answer = quiet(pod).orElseGet(() -> inTurn(pod, System.nanoTime() + limit.toNanos()));
        answers.labelValues(
                        switch (answer) {
                            case Answer.Held(var held) -> held.isEmpty() ? "none" : "held";
                            case Answer.Refused _, Answer.Unknown _ -> "unknown";
                        })
                .inc();
        return answer;
    }

    /// However many pods start, there is one question at a time.
    private Answer inTurn(Pod pod, long end) {
        try {
            if (!asking.tryLock(end - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                return new Answer.Unknown("the questions about other pods' claims took all the time");
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return new Answer.Unknown("interrupted before the Kubernetes API was asked for claims");
        }
        try {
            Duration left = Duration.ofNanos(end - System.nanoTime());
            return left.compareTo(ClaimsQuestion.SHORTEST) < 0
                    ? new Answer.Unknown("there was no time left to ask the Kubernetes API for claims")
                    : quiet(pod).orElseGet(() -> asked(pod, left));
        } finally {
            asking.unlock();
        }
    }

    private Answer asked(Pod pod, Duration limit) {
        try (ApiConnection api = ApiConnection.to(access)) {
            ClaimsQuestion question = new ClaimsQuestion(api, limit);
            NodeDevices known = devices().or(() -> read(question)).orElse(NodeDevices.NONE);
            return known.isEmpty() ? new Answer.Held(List.of()) : claimed(question, pod, known);
        } catch (DriverException.Unsupported e) {
            return refused(String.valueOf(e.getMessage()));
        } catch (DriverException e) {
            Answer silent = new Answer.Unknown(String.valueOf(e.getMessage()));
            rest(AFTER_SILENCE, silent);
            return silent;
        }
    }

    private Answer claimed(ClaimsQuestion question, Pod pod, NodeDevices known) {
        Set<AllocatedDevice> allocated;
        try {
            allocated = allocated(question, pod);
        } catch (DriverException.BackendFault | DriverException.BackendUnavailable e) {
            Duration pause = e instanceof DriverException.BackendFault ? AFTER_TOO_MUCH : AFTER_SILENCE;
            return leftAlone(pod.namespace(), pause, String.valueOf(e.getMessage()));
        }
        heard(pod.namespace());
        NodeDevices current = known.know(allocated) ? known : read(question).orElse(NodeDevices.NONE);
        return new Answer.Held(allocated.stream().map(current::held).toList());
    }

    private static Set<AllocatedDevice> allocated(ClaimsQuestion question, Pod pod) {
        Set<AllocatedDevice> allocated = new LinkedHashSet<>();
        String path = "/namespaces/" + ClaimsQuestion.encoded(pod.namespace()) + "/resourceclaims";
        question.list(path, "", claim -> {
            allocated.addAll(AllocatedDevice.of(claim, pod));
            if (allocated.size() > MOST_DEVICES) {
                throw new DriverException.BackendFault(
                        "pod " + pod.name() + " is said to have more than " + MOST_DEVICES + " devices");
            }
        });
        return allocated;
    }

    /// Slices are written by drivers, which may do anything on a node as it is.
    ///
    /// @return never empty; what is in it may be
    private Optional<NodeDevices> read(ClaimsQuestion question) {
        NodeDevices.Slices slices = new NodeDevices.Slices();
        question.list(
                "/resourceslices",
                "&fieldSelector=" + ClaimsQuestion.encoded("spec.nodeName=" + node.name()),
                slice -> {
                    JsonElement read = JsonParser.parseReader(slice);
                    if (read.isJsonObject()) {
                        slices.add(read.getAsJsonObject());
                    }
                });
        NodeDevices known = slices.devices();
        devices(known);
        return Optional.of(known);
    }

    /// None are not remembered: a pod may be allocated the first one at once.
    private synchronized Optional<NodeDevices> devices() {
        return Optional.of(devices).filter(known -> !known.isEmpty() && devicesUntil - System.nanoTime() > 0);
    }

    private synchronized void devices(NodeDevices known) {
        devices = known;
        devicesUntil = System.nanoTime() + LASTS.toNanos();
    }

    private synchronized Optional<Answer> quiet(Pod pod) {
        return Stream.concat(quiet.stream(), Stream.ofNullable(quietNamespaces.get(pod.namespace())))
                .filter(still -> !still.isOver())
                .map(Quiet::answer)
                .findFirst();
    }

    private synchronized void rest(Duration pause, Answer answer) {
        quiet = Optional.of(new Quiet(System.nanoTime() + pause.toNanos(), answer));
    }

    /// Says once why.
    private synchronized Answer refused(String why) {
        if (quiet.filter(last -> last.answer() instanceof Answer.Refused).isEmpty()) {
            LOG.atInfo()
                    .addKeyValue("reason", why)
                    .log("devices that pods get through ResourceClaims are unknown here: set node.resourceClaims of the"
                            + " chart");
        }
        Answer answer = new Answer.Refused(why);
        rest(AFTER_REFUSAL, answer);
        return answer;
    }

    /// Says why, once until it is otherwise.
    private synchronized Answer leftAlone(String namespace, Duration pause, String why) {
        if (quietNamespaces.size() >= MOST_NAMESPACES) {
            quietNamespaces.values().removeIf(Quiet::isOver);
        }
        Answer answer = new Answer.Unknown(why);
        if (quietNamespaces.put(namespace, new Quiet(System.nanoTime() + pause.toNanos(), answer)) == null) {
            LOG.atWarn()
                    .addKeyValue("namespace", namespace)
                    .addKeyValue("reason", why)
                    .log("cannot read the claims of a namespace: GPUs that its pods hold through them are unknown");
        }
        return answer;
    }

    private synchronized void heard(String namespace) {
        quietNamespaces.remove(namespace);
    }
}
