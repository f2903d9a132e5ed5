package dev.siphon.controller.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.controller.volume.InterceptedPorts;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Digest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class IdleDatasetKeysTest {
    private final InMemoryCeph ceph = new InMemoryCeph();
    private final MintedKeys minted = new MintedKeys();
    private final Dataset declared = new Dataset(
            "mine",
            Optional.empty(),
            InMemoryCeph.FILE_SYSTEM,
            "/datasets/mine",
            new Digest(DatasetsWorld.DIGEST),
            1,
            Set.of("*"));
    private final VolumeId.DatasetVolume dataset =
            declared.volume(ceph.ports().clusters().defaultCluster());
    private final DatasetIdentities identities = of(Optional.of("kmine00000"));
    private final DatasetIdentities others = of(Optional.of("kother0000"));
    private final Uses uses = new Uses();
    private final IdleDatasetKeys idle = new IdleDatasetKeys(uses, ceph.ports().clusters(), identities);

    private DatasetIdentities of(Optional<String> owner) {
        return new DatasetIdentities(
                InterceptedPorts.of(
                                ceph.ports(),
                                (call, make) -> call.method().equals("layout")
                                        ? new FileTree.Layout("data", "mine")
                                        : make.get())
                        .files(),
                minted,
                () -> owner);
    }

    /// This controller does not know their pods. An earlier version recorded no owner of an identity.
    @Test
    void keysOfAnotherKubernetesClustersNodesAreLeft() {
        var _ = others.mint(dataset, "node-1");
        String nobodys = of(Optional.empty()).mint(dataset, "node-1").userId();
        String shared = others.mint(dataset).userId();
        IntStream.range(0, 3).forEach(_ -> idle.reconcile());
        assertEquals(Set.of(), minted.removed);
        String mine = identities.mint(dataset).userId();
        identities.remove(dataset);
        assertEquals(Set.of(mine, nobodys), minted.removed, "the dataset is declared no more");
        assertNotEquals(mine, shared);
    }

    @Test
    void whatNoPodAndNoReplicaUsesAtTwoLooksIsRemoved() {
        String used = identities.mint(dataset, "used").userId();
        String filled = identities.mint(dataset, "filled").userId();
        String unused = identities.mint(dataset, "unused").userId();
        String shared = identities.mint(dataset).userId();
        uses.pods.add("used");
        uses.replicas.add("filled");
        idle.reconcile();
        assertEquals(Set.of(), minted.removed, "idle at one look");
        idle.reconcile();
        assertEquals(Set.of(unused), minted.removed);
        uses.pods.clear();
        uses.replicas.clear();
        idle.reconcile();
        assertEquals(Set.of(unused), minted.removed, "idle at one look");
        idle.reconcile();
        assertEquals(Set.of(unused, used, filled), minted.removed);
        assertTrue(minted.startingWith(dataset.cluster(), "").contains(shared));
    }

    /// The node has asked, but no object shows it yet.
    @Test
    void whatIsGivenBetweenTwoLooksStays() {
        var _ = identities.mint(dataset, "node-1");
        idle.reconcile();
        var _ = identities.mint(dataset, "node-1");
        idle.reconcile();
        assertEquals(Set.of(), minted.removed);
    }

    @Test
    void keysOfADatasetThatIsDeclaredNoMoreAreLeftToWhomTheyBelong() {
        var _ = identities.mint(dataset, "node-1");
        uses.isDeclared = false;
        IntStream.range(0, 3).forEach(_ -> idle.reconcile());
        assertEquals(Set.of(), minted.removed);
    }

    @Test
    void whereNodesHaveTheMostNoneIsMintedAndThoseThereAreFound() {
        IntStream.range(0, DatasetIdentities.MOST).forEach(node -> identities.mint(dataset, "node-" + node));
        String said = assertThrows(DriverException.QuotaExhausted.class, () -> identities.mint(dataset, "one-more"))
                .getMessage();
        assertTrue(said.contains("10000 keys"), said);
        var _ = identities.mint(dataset, "node-7");
        minted.remove(dataset.cluster(), identities.mint(dataset, "node-8").userId());
        var _ = identities.listed(dataset.cluster(), identities.now());
        var _ = identities.mint(dataset, "one-more");
    }

    /// The existing pods and replicas, by node.
    private final class Uses implements DatasetUsageCluster {
        private final List<String> pods = new ArrayList<>();
        private final List<String> replicas = new ArrayList<>();
        private boolean isDeclared = true;

        @Override
        public List<RecordedUsage> declared() {
            return isDeclared ? List.of(new RecordedUsage(declared, Optional.empty())) : List.of();
        }

        @Override
        public void each(Set<VolumeId.DatasetVolume> datasets, Consumer<PodUse> each) {
            pods.forEach(node -> each.accept(new PodUse(dataset, node, "user-u1")));
        }

        @Override
        public void eachReplica(BiConsumer<VolumeId.DatasetVolume, String> each) {
            replicas.forEach(node -> each.accept(dataset, node));
        }

        @Override
        public void report(String name, DatasetUsage use) {
            throw new IllegalStateException("nothing is written down");
        }
    }
}
