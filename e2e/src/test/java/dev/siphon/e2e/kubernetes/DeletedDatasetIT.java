package dev.siphon.e2e.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.siphon.e2e.lab.Await;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// A dataset whose object is deleted while a pod reads it.
@Tag("kubernetes")
@OnCluster
final class DeletedDatasetIT {
    private static final Cluster CLUSTER = Cluster.here();

    @SuppressWarnings("NullAway.Init")
    private static Tenant owner;

    @SuppressWarnings("NullAway.Init")
    private static SealedDataset dataset;

    @BeforeAll
    static void seal() {
        var _ = Installation.in(CLUSTER);
        owner = Tenant.ofAccount(CLUSTER, 39);
        dataset = SealedDataset.seal(CLUSTER, owner).declare(owner.account());
    }

    @AfterAll
    static void end() {
        owner.close();
        dataset.delete();
    }

    @Test
    void aPodKeepsItUntilItEnds() {
        TestPod pod = owner.pod("named", "exec sleep 600")
                .withDataset(dataset.reference())
                .create()
                .ready();
        assertNotEquals(List.of(), dataset.mounts());

        var _ = dataset.resource().delete();

        assertEquals("seven", pod.run("cat", "/data/two/7"));
        assertNotEquals(List.of(), dataset.identities());

        pod.delete();

        dataset.awaitNoIdentity();
        var _ = Await.until(
                "nobody asks for it", Cluster.PATIENCE, () -> dataset.accesses().isEmpty());
        var _ = Await.until(
                "no image of it is mounted",
                Cluster.PATIENCE,
                () -> dataset.mounts().isEmpty());
    }
}
