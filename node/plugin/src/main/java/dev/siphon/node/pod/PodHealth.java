package dev.siphon.node.pod;

import dev.siphon.csi.DriverException;
import dev.siphon.node.mount.TargetPath;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Reports the state of a published volume by events on its pod: that it stopped answering, or answers again; that
/// it would not be published any more; where it is read from; and that it could be read faster.
///
/// The kubelet reads the statistics of each published volume once a minute, so this needs no polling of its own.
/// Each state is reported once, however often it is seen; a restarted process reports it again.
public final class PodHealth implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PodHealth.class);

    /// The names of the kubelet's own events of this kind (`pkg/kubelet/server/stats/volume_stat_calculator.go`).
    static final String ABNORMAL = "VolumeConditionAbnormal";

    static final String NORMAL = "VolumeConditionNormal";

    /// A pod has access that it would not get any more.
    static final String WITHDRAWN = "VolumeAccessWithdrawn";

    /// A pod could read faster.
    static final String SLOW = "DatasetSlow";

    /// The API allows 1,024 bytes.
    private static final int MAX_MESSAGE = 900;

    /// More than the pods of a node; lost events are seen again a minute later.
    private static final int MAX_WAITING = 512;

    private static final long IDLE_SECONDS = 5;

    private final PublishedPods pods;
    private final PodEvents events;
    private final Counter told;
    private final Map<String, Pod> abnormal = new ConcurrentHashMap<>();
    private final Set<String> withdrawn = ConcurrentHashMap.newKeySet();
    private final Set<String> slow = ConcurrentHashMap.newKeySet();
    private final ThreadPoolExecutor teller;

    public PodHealth(PublishedPods pods, PodEvents events, PrometheusRegistry metrics) {
        this.pods = pods;
        this.events = events;
        this.told = Counter.builder()
                .name("siphon_pod_events_total")
                .help("Events added to pods about their volumes' health: taken or failed.")
                .labelNames("result")
                .register(metrics);
        // runs no thread while there is nothing to report; nobody waits, and each event has a deadline
        this.teller = new ThreadPoolExecutor(
                0,
                1,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(MAX_WAITING),
                Thread.ofPlatform().daemon().name("pod-events").factory(),
                new ThreadPoolExecutor.DiscardPolicy());
    }

    /// Records that a volume was published for `pod` at `target`.
    public void published(TargetPath target, Optional<Pod> pod) {
        abnormal.remove(target.text());
        withdrawn.remove(target.text());
        pod.ifPresent(known -> pods.put(target, known));
    }

    /// Returns whether a volume was published for `pod` at `target` before, by this process or an earlier one.
    public boolean isPublished(TargetPath target, Pod pod) {
        return pods.at(target).equals(Optional.of(pod));
    }

    /// Called before the volume at `target` is unpublished: a pod that ends gets no more events.
    public void ends(TargetPath target) {
        abnormal.remove(target.text());
        withdrawn.remove(target.text());
        slow.remove(target.text());
        pods.remove(target);
    }

    /// Runs `look` on the volume at `target`, and reports a change of its health.
    ///
    /// @param look throws NOT_FOUND if nothing is mounted there, and UNAVAILABLE if the volume does not answer
    /// @return the result of `look`
    public <T> T watching(TargetPath target, Supplier<T> look) {
        try {
            T seen = look.get();
            Optional.ofNullable(abnormal.remove(target.text())).ifPresent(pod -> tellNormal(target, pod));
            return seen;
        } catch (DriverException.BackendUnavailable | DriverException.NotFound e) {
            if (!abnormal.containsKey(target.text())) {
                pods.at(target).ifPresent(pod -> tellAbnormal(target, pod, String.valueOf(e.getMessage())));
            }
            throw e;
        }
    }

    /// Reports to the pod of `target` that it would not get the volume any more; once, until it would again.
    ///
    /// @param why it would not; empty if it would, or if that is unknown now
    public void access(TargetPath target, Function<Pod, Optional<String>> why) {
        pods.at(target).ifPresent(pod -> {
            Optional<String> reason = why.apply(pod);
            if (reason.isEmpty()) {
                withdrawn.remove(target.text());
            } else if (withdrawn.add(target.text())) {
                tellWithdrawn(target, pod, reason.get());
            }
        });
    }

    /// Reports a normal event to a pod.
    ///
    /// @param reason in CamelCase, for programs
    public void report(Pod pod, String reason, String message) {
        String text = message.substring(0, Math.min(message.length(), MAX_MESSAGE));
        teller.execute(() -> isTaken(pod, new PodEvents.Event(PodEvents.Type.NORMAL, reason, text)));
    }

    /// Reports to the pod of `target` that it could read faster; once, however often the volume is published.
    public void slow(TargetPath target, String why) {
        pods.at(target).filter(_ -> slow.add(target.text())).ifPresent(pod -> {
            String message = why.substring(0, Math.min(why.length(), MAX_MESSAGE));
            teller.execute(() -> {
                if (!isTaken(pod, new PodEvents.Event(PodEvents.Type.WARNING, SLOW, message))) {
                    slow.remove(target.text());
                }
            });
        });
    }

    private void tellWithdrawn(TargetPath target, Pod pod, String why) {
        String message = why.substring(0, Math.min(why.length(), MAX_MESSAGE))
                + "; this pod can read it until it ends, but no other pod can start to";
        teller.execute(() -> {
            if (!isTaken(pod, new PodEvents.Event(PodEvents.Type.WARNING, WITHDRAWN, message))) {
                // retried when it is seen again
                withdrawn.remove(target.text());
            }
        });
    }

    private void tellAbnormal(TargetPath target, Pod pod, String why) {
        abnormal.put(target.text(), pod);
        String message = why.substring(0, Math.min(why.length(), MAX_MESSAGE))
                + "; if that does not pass, delete the pod: a new one mounts the volume again";
        teller.execute(() -> {
            if (!isTaken(pod, new PodEvents.Event(PodEvents.Type.WARNING, ABNORMAL, message))) {
                // retried when it is seen again
                abnormal.remove(target.text(), pod);
            }
        });
    }

    private void tellNormal(TargetPath target, Pod pod) {
        String message = "the volume at " + target.text() + " answers again";
        teller.execute(() -> isTaken(pod, new PodEvents.Event(PodEvents.Type.NORMAL, NORMAL, message)));
    }

    private boolean isTaken(Pod pod, PodEvents.Event event) {
        try {
            events.add(pod, event);
            told.labelValues("taken").inc();
            return true;
        } catch (DriverException.BackendUnavailable e) {
            told.labelValues("failed").inc();
            LOG.atWarn()
                    .addKeyValue("pod", pod.namespace() + "/" + pod.name())
                    .addKeyValue("event", event.message())
                    .addKeyValue("reason", e.getMessage())
                    .log("could not add an event about a volume's health to its pod");
            return false;
        }
    }

    @Override
    public void close() {
        teller.shutdownNow();
    }
}
