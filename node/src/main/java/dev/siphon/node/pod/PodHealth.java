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

/// Tells the people of a pod, by an event on it, that a volume which was published for it no longer answers, and
/// that it does so again; that it would not be published any more; where it is read from; and that it is slower
/// there than it could be.
///
/// The kubelet asks for each published volume's numbers once a minute, so that nothing is looked at for this
/// alone. A volume's state is told once, however often it is seen; a process that starts anew tells it once more.
public final class PodHealth implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PodHealth.class);

    /// As the kubelet's own events of this kind are called
    /// (`pkg/kubelet/server/stats/volume_stat_calculator.go`).
    static final String ABNORMAL = "VolumeConditionAbnormal";

    static final String NORMAL = "VolumeConditionNormal";

    /// That a pod has what it would not get any more.
    static final String WITHDRAWN = "VolumeAccessWithdrawn";

    /// That a pod reads slower than it could.
    static final String SLOW = "DatasetSlow";

    /// The API takes 1,024 bytes.
    private static final int MAX_MESSAGE = 900;

    /// More than the pods of a node; what is lost beyond that is seen again a minute later.
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
                .help("Events that pods were given about their volumes' health: taken or failed.")
                .labelNames("result")
                .register(metrics);
        // no thread while there is nothing to tell
        this.teller = new ThreadPoolExecutor(
                0,
                1,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(MAX_WAITING),
                Thread.ofPlatform().daemon().name("pod-events").factory(),
                new ThreadPoolExecutor.DiscardPolicy());
    }

    /// A volume was published for `pod` at `target`.
    public void published(TargetPath target, Optional<Pod> pod) {
        abnormal.remove(target.text());
        withdrawn.remove(target.text());
        pod.ifPresent(known -> pods.put(target, known));
    }

    /// The volume at `target` is about to be unpublished: a pod that ends is told nothing more.
    public void ends(TargetPath target) {
        abnormal.remove(target.text());
        withdrawn.remove(target.text());
        slow.remove(target.text());
        pods.remove(target);
    }

    /// Looks at the volume at `target`, and tells what that says of its health.
    ///
    /// @param look fails with NOT_FOUND if nothing is mounted there, and with UNAVAILABLE if it does not answer
    /// @return what `look` returns
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

    /// Tells whose pod `target` is that it would not get the volume any more; once, until it would again.
    ///
    /// @param why it would not; empty if it would, or if that is not known now
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

    /// Tells a pod's people something that is well.
    ///
    /// @param reason in CamelCase, for programs
    public void report(Pod pod, String reason, String message) {
        String text = message.substring(0, Math.min(message.length(), MAX_MESSAGE));
        teller.execute(() -> isTaken(pod, new PodEvents.Event(PodEvents.Type.NORMAL, reason, text)));
    }

    /// Tells whose pod `target` is that it reads slower than it could; once, however often it is published.
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
                + "; this pod reads on until it ends, and no other one will";
        teller.execute(() -> {
            if (!isTaken(pod, new PodEvents.Event(PodEvents.Type.WARNING, WITHDRAWN, message))) {
                // told when it is seen the next time
                withdrawn.remove(target.text());
            }
        });
    }

    private void tellAbnormal(TargetPath target, Pod pod, String why) {
        abnormal.put(target.text(), pod);
        String message = why.substring(0, Math.min(why.length(), MAX_MESSAGE))
                + "; if that does not pass, delete the pod: a new one has the volume mounted anew";
        teller.execute(() -> {
            if (!isTaken(pod, new PodEvents.Event(PodEvents.Type.WARNING, ABNORMAL, message))) {
                // told when it is seen the next time
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
                    .log("a pod could not be told of its volume's health");
            return false;
        }
    }

    @Override
    public void close() {
        teller.shutdownNow();
    }
}
