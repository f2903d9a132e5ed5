package dev.siphon.controller.kubernetes;

import dev.siphon.controller.warm.GatedPod;
import dev.siphon.controller.warm.QueuedWorkload;
import dev.siphon.controller.warm.QueuedWorkload.PodSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The Workloads of Kueue for which data may be wanted now.
///
/// The memory for all tenants' Workloads is limited. Of [#TOO_MUCH], each namespace gets at most half of what the
/// others
/// leave. Of other Workloads only the identity is kept, so that they are admitted without their data. Above [#MOST],
/// they are left out until there is room.
final class QueuedWorkloads implements Informer.Values<QueuedWorkloads.Kept> {
    static final Informer.Source SOURCE = new Informer.Source(
            "Workloads of Kueue", KubernetesAdmissionQueue.KUEUE + "workloads", "", 50, WorkloadParser.PARTS);

    private static final Logger LOG = LoggerFactory.getLogger(QueuedWorkloads.class);

    private static final long MOST_OF_ONE = 200 << 10;
    private static final long TOO_MUCH = 6 << 20;
    private static final long MOST = 8 << 20;

    /// Workloads that were left out are listed once this much is free.
    private static final long ROOM = 1 << 20;

    /// What a check and the Workload itself take beside their texts.
    private static final long OF_A_PART = 200;

    private static final String LARGE = "nothing is filled for this Workload, as its pods' node rules, tolerations,"
            + " resources and volumes are longer than Siphon reads, or the Workloads of its namespace that wait are";

    private final WorkloadParser reading;
    private final NamespaceShares bytes = new NamespaceShares(TOO_MUCH);

    /// Whether a Workload was left out since the last list.
    private boolean isIncomplete;

    /// @param bytes about what it takes
    record Kept(QueuedWorkload workload, long bytes) {
        static Kept of(QueuedWorkload workload) {
            long pods = workload.podSets().stream()
                    .mapToLong(set -> WaitingPods.estimate(set.pod(), NodeAffinity.NONE, List.of()))
                    .sum();
            long checks = workload.checks().entrySet().stream()
                    .mapToLong(each -> OF_A_PART
                            + 2L
                                    * (each.getKey().length()
                                            + each.getValue().message().length()))
                    .sum();
            Stream<String> flavors = workload.podSets().stream().flatMap(set -> set.flavors().stream());
            long names = Stream.concat(workload.forgotten().stream(), flavors)
                    .mapToLong(each -> OF_A_PART + 2L * each.length())
                    .sum();
            long queue = 2L * workload.clusterQueue().map(String::length).orElse(0);
            return new Kept(workload, pods + checks + names + queue + OF_A_PART);
        }

        private Kept unread() {
            GatedPod pod = workload.podSets().stream()
                    .map(PodSet::pod)
                    .findFirst()
                    .orElseGet(() -> WorkloadParser.nobody(workload.namespace(), workload.uid()));
            return of(new QueuedWorkload(
                    workload.namespace(),
                    workload.name(),
                    workload.uid(),
                    workload.version(),
                    workload.phase(),
                    workload.since(),
                    workload.release(),
                    workload.clusterQueue(),
                    workload.isReleasable(),
                    workload.checks(),
                    Set.of(),
                    List.of(new PodSet("", 1, pod.unread(LARGE), Set.of()))));
        }
    }

    QueuedWorkloads(WorkloadParser reading) {
        this.reading = reading;
    }

    @Override
    public Optional<Kept> of(ObjectParts found, Optional<Kept> before) {
        before.ifPresent(this::gone);
        Optional<Kept> kept = reading.workload(found.kept())
                .map(workload -> fitting(Kept.of(workload), found.whole()))
                .filter(this::hasRoom);
        kept.ifPresent(each -> bytes.take(each.workload().namespace(), each.bytes()));
        return kept;
    }

    @Override
    public void gone(Kept before) {
        bytes.take(before.workload().namespace(), -before.bytes());
    }

    @Override
    public boolean isToBeListed() {
        boolean isRoom = isIncomplete && bytes.total() <= MOST - ROOM;
        isIncomplete = isIncomplete && !isRoom;
        return isRoom;
    }

    private Kept fitting(Kept whole, boolean isRead) {
        return isRead
                        && whole.bytes() <= MOST_OF_ONE
                        && bytes.fits(whole.workload().namespace(), whole.bytes())
                ? whole
                : whole.unread();
    }

    private boolean hasRoom(Kept kept) {
        if (bytes.total() + kept.bytes() <= MOST) {
            return true;
        }
        if (!isIncomplete) {
            LOG.warn(
                    "the Workloads with reserved quota need more than {} MiB: some wait until others are gone",
                    MOST >> 20);
        }
        isIncomplete = true;
        return false;
    }
}
