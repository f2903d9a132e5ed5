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

/// Caches pods for some seconds: the volumes of a pod are requested together, and it is read once for all of them.
/// A pod's volumes, node and origin never change under the same uid.
final class RecentPods {
    private static final long LIFE_NANOS = Duration.ofSeconds(5).toNanos();

    /// Most datasets and claims of all cached pods, some 250 bytes each.
    private static final int MOST_DATASETS = 4_000;

    private static final int MOST_PODS = 64;

    private final LongSupplier nanoTime;

    /// The oldest first; guarded by this object's lock.
    private final Map<PodKey, RecentRead> pods = new LinkedHashMap<>();

    /// Identifies a pod.
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

    /// Returns a pod, from the cache or read now. Concurrent callers wait for the same read.
    ///
    /// @param reader has a deadline; its failure reaches all waiting callers and is not cached
    InlinePod get(PodKey key, Supplier<InlinePod> reader) {
        FutureTask<InlinePod> read = begin(key, reader);
        read.run(); // does nothing if another thread has started it
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
