package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Two nodes fill three datasets each, in a cluster that lets one node fill at a time.
@Tag("kubernetes")
@AloneOnCluster
final class ClusterFillsIT {
    private static final Cluster CLUSTER = Cluster.here();
    private static final int BYTES = 6 << 20;
    private static final int DATASETS = 3;
    private static final int NODES = 2;

    @SuppressWarnings("NullAway.Init")
    private static Installation siphon;

    @SuppressWarnings("NullAway.Init")
    private static KernelNode guest;

    @SuppressWarnings("NullAway.Init")
    private static Tenant tenant;

    private static final List<SealedDataset> DECLARED = new ArrayList<>();

    /// What the replicas' objects have shown.
    private static final class Seen implements Watcher<GenericKubernetesResource> {
        private final Set<String> filling = new HashSet<>();
        private final Set<String> waits = new HashSet<>();
        private int most;

        @Override
        public synchronized void eventReceived(Action action, GenericKubernetesResource replica) {
            String name = replica.getMetadata().getName();
            String state = String.valueOf(replica.<Object>get("status", "state"));
            filling.remove(name);
            if (action != Action.DELETED && "Filling".equals(state)) {
                filling.add(name);
            }
            most = Math.max(most, filling.size());
            if ("Queued".equals(state)) {
                waits.add(String.valueOf(replica.<Object>get("status", "message")));
            }
        }

        @Override
        public void onClose(WatcherException cause) {}

        private synchronized int most() {
            return most;
        }

        private synchronized Set<String> waits() {
            return Set.copyOf(waits);
        }
    }

    @BeforeAll
    static void begin() {
        siphon = Installation.in(CLUSTER);
        guest = KernelNode.join(siphon, CLUSTER);
        tenant = Tenant.ofAccount(CLUSTER, 67);
        for (int number = 0; number < DATASETS; number++) {
            DECLARED.add(SealedDataset.sealRandom(CLUSTER, tenant, "turn-" + number, BYTES)
                    .declare(tenant.account()));
        }
        siphon.setControllerEnvironment("SIPHON_FILLS_IN_CLUSTER=1");
        siphon.setNodeEnvironment("SIPHON_FILL_TURNS=true", "SIPHON_FILL_RATE=1Mi");
    }

    @AfterAll
    static void end() {
        DECLARED.forEach(each -> {
            var _ = CLUSTER.kubectl("delete", "datasetwarmup", warmup(each), "--ignore-not-found");
        });
        tenant.close();
        DECLARED.forEach(SealedDataset::delete);
        guest.leave();
        siphon.setNodeEnvironment("SIPHON_FILL_TURNS-", "SIPHON_FILL_RATE-");
        siphon.setControllerEnvironment("SIPHON_FILLS_IN_CLUSTER-");
    }

    private static String warmup(SealedDataset dataset) {
        return dataset.name().replace('.', '-');
    }

    @Test
    void oneNodeFillsAtATimeAndAllEnd() {
        Seen seen = new Seen();
        try (Watch _ = CLUSTER.client()
                .genericKubernetesResources("siphon.dev/v1alpha1", "DatasetReplica")
                .watch(seen)) {
            for (SealedDataset each : DECLARED) {
                CLUSTER.apply("", """
                        apiVersion: siphon.dev/v1alpha1
                        kind: DatasetWarmup
                        metadata: {name: %s}
                        spec: {dataset: %s}
                        """.formatted(warmup(each), each.reference()));
            }
            for (SealedDataset each : DECLARED) {
                var _ = CLUSTER.kubectl(
                        "wait",
                        "datasetwarmup/" + warmup(each),
                        "--for=jsonpath={.status.local}=" + NODES,
                        "--timeout=115s");
            }
        }

        assertEquals(1, seen.most());
        assertTrue(
                seen.waits().stream().anyMatch(each -> each.matches("waits for its turn: [1-5] before it")),
                seen.waits()::toString);
    }
}
