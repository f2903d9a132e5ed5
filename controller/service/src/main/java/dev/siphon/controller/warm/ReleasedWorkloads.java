package dev.siphon.controller.warm;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The Workloads that are without their quota while their data loads. Each lets another one into its queue, which
/// loads too, so their number is limited.
final class ReleasedWorkloads {
    /// How many of a ClusterQueue there are at most.
    static final int MOST = 10;

    /// The ClusterQueue of each, if that is known.
    private final List<Optional<String>> queues;

    ReleasedWorkloads(List<QueuedWorkload> workloads) {
        this.queues = new ArrayList<>(workloads.stream()
                .filter(each -> each.phase().isReleased())
                .map(QueuedWorkload::clusterQueue)
                .toList());
    }

    /// Whether one more of this Workload's ClusterQueue may be released. If that is not known, all of the cluster
    /// count.
    boolean isRoomFor(QueuedWorkload workload) {
        Optional<String> queue = workload.clusterQueue();
        return queues.stream()
                        .filter(each -> queue.isEmpty() || each.equals(queue))
                        .count()
                < MOST;
    }

    /// Counts one that is released now.
    void add(QueuedWorkload workload) {
        queues.add(workload.clusterQueue());
    }
}
