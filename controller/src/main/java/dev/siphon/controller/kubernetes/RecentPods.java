package dev.siphon.controller.kubernetes;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/// Pods that were read a moment ago: the volumes of one pod are asked for together, and it is read once for all of
/// them. Their volumes, their node and what made them never change while they have that uid.
final class RecentPods {
    private static final long LIFE_NANOS = Duration.ofSeconds(5).toNanos();

    /// Some 250 bytes each, with claims, of all pods together.
    private static final int MOST_DATASETS = 4_000;

    private static final int MOST_PODS = 64;

    private final LongSupplier nanoTime;

    /// The oldest first; under this object's lock.
    private final Map<PodKey, RecentRead> pods = new LinkedHashMap<>();

    /// What is asked for.
    record PodKey(String namespace, String name, String uid) {}

    private record RecentRead(long since, FutureTask<InlinePod> pod) {
        boolean isFailed() {
            return pod.state() == Future.State.FAILED;
        }

        int datasets() {
            return pod.state() == Future.State.SUCCESS
                    ? pod.resultNow().datasets().size()
                            + pod.resultNow().claims().count()
                    : 0;
        }
    }

    RecentPods(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /// The pod, read now or a moment ago. Whoever asks while it is being read waits for that.
    ///
    /// @param reader has a deadline; what it throws is for all who wait, and forgotten
    InlinePod get(PodKey key, Supplier<InlinePod> reader) {
        FutureTask<InlinePod> read = begin(key, reader);
        read.run(); // nothing if somebody else has begun
        try {
            return read.get();
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof DriverException known) {
                throw known;
            }
            throw new DriverException.BackendFault("a pod cannot be read", failed);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("the driver is stopping; retry");
        } finally {
            shrink();
        }
    }

    private synchronized FutureTask<InlinePod> begin(PodKey key, Supplier<InlinePod> reader) {
        long now = nanoTime.getAsLong();
        pods.values().removeIf(read -> read.pod().isDone() && now - read.since() > LIFE_NANOS);
        return pods.computeIfAbsent(key, _ -> new RecentRead(now, new FutureTask<>(reader::get)))
                .pod();
    }

    private synchronized void shrink() {
        pods.values().removeIf(RecentRead::isFailed);
        int datasets = pods.values().stream().mapToInt(RecentRead::datasets).sum();
        Iterator<RecentRead> oldest = pods.values().iterator();
        while (oldest.hasNext() && (datasets > MOST_DATASETS || pods.size() > MOST_PODS)) {
            RecentRead read = oldest.next();
            if (read.pod().isDone()) {
                datasets -= read.datasets();
                oldest.remove();
            }
        }
    }
}
