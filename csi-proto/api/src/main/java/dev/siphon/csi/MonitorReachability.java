package dev.siphon.csi;

import dev.siphon.csi.Monitors.Endpoint;
import dev.siphon.csi.Monitors.Monitor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Checks by TCP connections whether this node can reach the monitors of a cluster. It has no credentials, and
/// needs none to find a cluster that no connection reaches.
public final class MonitorReachability {
    private static final Duration LIMIT = Duration.ofSeconds(2);

    private MonitorReachability() {}

    /// The result for one cluster.
    ///
    /// @param unreachable the monitors that did not answer
    public record UnreachableCluster(Monitors cluster, List<Endpoint> unreachable) {
        public UnreachableCluster {
            unreachable = List.copyOf(unreachable);
        }

        /// Checks whether no monitor of the cluster answered.
        public boolean isCutOff() {
            return unreachable.size() == cluster.entries().size();
        }
    }

    /// Tries all monitors of `clusters` concurrently, for at most 2 s or `remaining`.
    ///
    /// @return the clusters with at least one monitor that did not answer
    public static List<UnreachableCluster> findUnreachable(Collection<Monitors> clusters, Duration remaining) {
        Duration patience = remaining.compareTo(LIMIT) < 0 ? remaining : LIMIT;
        List<Endpoint> all = clusters.stream()
                .flatMap(cluster -> cluster.entries().stream())
                .map(Monitor::preferred)
                .distinct()
                .toList();
        Collection<Endpoint> answered = answering(all, patience);
        List<UnreachableCluster> findings = new ArrayList<>();
        for (Monitors cluster : clusters) {
            List<Endpoint> silent = cluster.entries().stream()
                    .map(Monitor::preferred)
                    .filter(endpoint -> !answered.contains(endpoint))
                    .toList();
            Optional.of(silent)
                    .filter(endpoints -> !endpoints.isEmpty())
                    .ifPresent(endpoints -> findings.add(new UnreachableCluster(cluster, endpoints)));
        }
        return findings;
    }

    private static Collection<Endpoint> answering(List<Endpoint> endpoints, Duration patience) {
        ConcurrentLinkedQueue<Endpoint> answered = new ConcurrentLinkedQueue<>();
        CountDownLatch ended = new CountDownLatch(endpoints.size());
        for (Endpoint endpoint : endpoints) {
            Thread.ofVirtual().name("monitor-check").start(() -> {
                if (answers(endpoint, patience)) {
                    answered.add(endpoint);
                }
                ended.countDown();
            });
        }
        try {
            // a monitor whose name is still being resolved counts as unreachable
            boolean _ = ended.await(patience.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return List.copyOf(answered);
    }

    private static boolean answers(Endpoint endpoint, Duration patience) {
        try (Socket socket = new Socket()) {
            socket.connect(
                    new InetSocketAddress(endpoint.host(), endpoint.port()), Math.max(1, (int) patience.toMillis()));
            return true;
        } catch (IOException _) {
            return false;
        }
    }
}
