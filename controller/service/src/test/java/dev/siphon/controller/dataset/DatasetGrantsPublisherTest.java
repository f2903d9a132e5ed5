package dev.siphon.controller.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.grant.NamespaceGrants;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.VolumeId;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DatasetGrantsPublisherTest {
    @TempDir
    private Path folder = Path.of("");

    private DatasetsWorld world = new DatasetsWorld(folder, true);
    private NamespaceGrants published = world.published();

    @BeforeEach
    void makeNamespaces() {
        world = new DatasetsWorld(folder, true);
        published = world.published();
        world.kubernetes.annotate("user-u1", Map.of());
        world.kubernetes.annotate("user-u2", Map.of());
        world.kubernetes.annotate("team", Map.of("siphon.dev/owners", "u2"));
    }

    private void look() {
        world.grants(published).reconcile();
    }

    private Set<String> readersOf(String dataset) {
        return world.store().last().dataset(dataset).map(Shared::namespaces).orElseThrow();
    }

    @Test
    void namespacesFollowReadersGroupsAndNamespaces() {
        world.declare(Map.of("mine", List.of("u1"), "vision", List.of("group:vision"), "all", List.of("*")));
        look();
        assertEquals(Set.of("user-u1"), readersOf("mine"));
        assertEquals(Set.of("user-u2", "team"), readersOf("vision"));
        assertTrue(world.store().last().dataset("all").orElseThrow().everybody());
        world.declare(Map.of("mine", List.of("u2"), "vision", List.of()));
        look();
        assertEquals(Set.of("user-u2", "team"), readersOf("mine"));
        assertEquals(Set.of(), readersOf("vision"));
        assertEquals(Optional.empty(), world.store().last().dataset("all"));
        world.kubernetes.annotate("team", Map.of());
        look();
        assertEquals(Set.of("user-u2"), readersOf("mine"));
    }

    @Test
    void aFrozenAccountReadsNothingUntilItGoesOn() {
        world.declare(Map.of("mine", List.of("u1"), "vision", List.of("group:vision"), "all", List.of("*")));
        look();
        world.freeze("u2", true);
        look();
        assertEquals(Set.of(), readersOf("vision"));
        assertEquals(Set.of("user-u1"), readersOf("mine"));
        world.freeze("u2", false);
        look();
        assertEquals(Set.of("user-u2", "team"), readersOf("vision"));
    }

    @Test
    void aNameThatIsGivenToAnotherReadsNothingUntilThatIsConfirmed() {
        world.directory.put(new Account("group:vision", "id-v", 0, 20_001, Set.of("vision"), OptionalLong.empty()));
        world.declare(Map.of("mine", List.of("u1"), "vision", List.of("group:vision", "u1"), "all", List.of("*")));
        look();
        assertEquals(Set.of("user-u1"), readersOf("mine"));
        assertEquals(Set.of("user-u1", "user-u2", "team"), readersOf("vision"));

        world.directory.put(new Account("u1", "id-9", 10_001, 10_001, Set.of("u1"), OptionalLong.empty()));
        look();
        assertEquals(Set.of(), readersOf("mine"));
        assertEquals(Set.of("user-u2", "team"), readersOf("vision"));
        assertEquals(Set.of("u1"), world.datasets().readers("mine").changed());
        world.faults.put("u1", new DriverException.BackendFault("two entries"));
        look();
        assertEquals(Set.of(), readersOf("mine"), "what cannot be known stays");
        world.faults.clear();

        world.directory.put(new Account("group:vision", "id-w", 0, 20_001, Set.of("vision"), OptionalLong.empty()));
        look();
        assertEquals(Set.of(), readersOf("vision"));
        world.seen.put("mine", new ReaderIds(Map.of(), Set.of("u1")));
        look();
        assertEquals(Set.of("user-u1"), readersOf("mine"), "an administrator has removed what was seen");
        assertEquals(Set.of(), world.datasets().readers("mine").changed());
        assertEquals(Map.of(), world.datasets().readers("all").groups());
    }

    @Test
    void whoeverIsNoReaderAnyMoreIsForgotten() {
        world.declare(Map.of("mine", List.of("u1", "u2", "u3")));
        look();
        assertEquals(
                Set.of("u1", "u2"), world.datasets().readers("mine").groups().keySet());
        world.declare(Map.of("mine", List.of("u2")));
        look();
        assertEquals(Set.of("u2"), world.datasets().readers("mine").groups().keySet());
    }

    @Test
    void aFreezeIsPublishedAsSoonAsItIsSeen() throws InterruptedException {
        world.declare(Map.of("mine", List.of("u1", "u2")));
        look();
        world.freezeUnseen("u2", true);
        BackgroundTasks tasks = new BackgroundTasks();
        CountDownLatch seen = new CountDownLatch(1);
        try (DatasetGrantsPublisher publisher = world.grants(published)) {
            var _ = world.frozen.start(Duration.ofHours(1), tasks, () -> {
                publisher.reconcileSoon(tasks);
                seen.countDown();
            });
            assertTrue(seen.await(10, TimeUnit.SECONDS), "nobody was told of the freeze");
            CephLab.await(Duration.ofSeconds(10), () -> readersOf("mine").equals(Set.of("user-u1")));
        } finally {
            world.frozen.close();
        }
    }

    @Test
    void whoIsFrozenIsNotKnownBeforeAClusterWasLookedThrough() {
        world.declare(Map.of("mine", List.of("u1")));
        look();
        world.declare(Map.of("mine", List.of("u1", "u2")));
        new DatasetGrantsPublisher(
                        world.ceph.ports().clusters(),
                        world.datasets(),
                        world.accounts(),
                        new DatasetReaders(
                                world.accounts(),
                                world.directory,
                                new FrozenAccounts(
                                        world.ceph.ports().clusters(),
                                        world.ceph.ports().files()),
                                new ReaderNames(world.datasets(), world.directory)),
                        published,
                        Optional.empty())
                .reconcile();
        assertEquals(Set.of("user-u1"), readersOf("mine"), "as it was published");
        look();
        assertEquals(Set.of("user-u1", "user-u2", "team"), readersOf("mine"));
    }

    @Test
    void whatCannotBeKnownNowStays() {
        world.declare(Map.of("mine", List.of("u1")));
        look();
        world.write("{");
        assertThrows(DriverException.BackendUnavailable.class, this::look);
        assertEquals(Set.of("user-u1"), readersOf("mine"));
    }

    @Test
    void aSlipOfThePenTakesNothingFromAnybody() {
        world.declare(Map.of("mine", List.of("u1"), "vision", List.of("u2")));
        look();
        world.write("{\"mine\":{\"fsName\":\"cephfs\"}}");
        look();
        assertEquals(Set.of("user-u1"), readersOf("mine"));
        assertEquals(Optional.empty(), world.store().last().dataset("vision"));
    }

    @Test
    void whatIsGrantedWhileSomebodyLooksStays() {
        world.declare(Map.of("mine", List.of("u1")));
        look();
        Grants before = published.published();
        Shared mine = before.dataset("mine").orElseThrow();
        published.share("mine", mine.volume(), false, Optional.of("new"));
        var _ = published.shareOnly(
                before, Map.of("mine", new Shared(mine.volume(), false, new TreeSet<>(Set.of("user-u2")))));
        assertEquals(Set.of("user-u2", "new"), readersOf("mine"));
    }

    @Test
    void moreDatasetsOfOneAccountThanFitHoldUpNoWithdrawalAndNobodyElse() {
        published = world.published(new SmallStore(world.store()));
        world.declare(Map.of("u2.mine", List.of("u1", "u2")));
        look();
        Map<String, List<String>> many = new HashMap<>();
        for (int each = 0; each < 1000; each++) {
            many.put("u1.set-" + each, List.of("u1"));
        }
        many.put("u2.mine", List.of("u2"));
        many.put("u2.new", List.of("u2"));
        world.declare(many);
        look();
        assertEquals(Set.of("user-u2", "team"), readersOf("u2.mine"));
        assertEquals(Set.of("user-u2", "team"), readersOf("u2.new"));
        assertTrue(world.store().last().datasets().size() > 50, "what fits is granted");
        many.remove("u2.mine");
        world.declare(many);
        look();
        assertEquals(Optional.empty(), world.store().last().dataset("u2.mine"));
    }

    @Test
    void oneThatIsDeclaredWrongKeepsNoOtherFromBeingPublished() {
        world.write("{\"bad\":{},\"all\":{\"fsName\":\"cephfs\",\"path\":\"/all\",\"digest\":\"" + DatasetsWorld.DIGEST
                + "\",\"readers\":[\"*\"]}}");
        look();
        assertEquals(Set.of("all"), world.store().last().datasets().keySet());
    }

    @Test
    void withoutKubernetesTheNamespacesAreThoseThatEverGotAVolume() {
        DatasetsWorld outside = new DatasetsWorld(folder, false);
        outside.declare(Map.of("mine", List.of("u1"), "vision", List.of("group:vision")));
        Shared mine = shared(outside, "mine");
        published.share("mine", mine.volume(), false, Optional.of("user-u1"));
        assertEquals(Set.of("user-u1"), readersOf("mine"));
        outside.grants(published).reconcile();
        assertEquals(Set.of("user-u1"), readersOf("mine"));
        assertEquals(Set.of(), readersOf("vision"));
        outside.declare(Map.of("mine", List.of("u2"), "vision", List.of("u1")));
        outside.grants(published).reconcile();
        assertEquals(Set.of(), readersOf("mine"));
        assertEquals(Set.of("user-u1"), readersOf("vision"), "a namespace that is known may read what it may now");
    }

    private Shared shared(DatasetsWorld outside, String name) {
        outside.grants(published).reconcile();
        return outside.store().last().dataset(name).orElseThrow();
    }

    @Test
    void aNamespaceIsPublishedAtOnceAndOnce() {
        world.declare(Map.of("mine", List.of("u1"), "all", List.of("*")));
        look();
        Shared mine = world.store().last().dataset("mine").orElseThrow();
        Shared all = world.store().last().dataset("all").orElseThrow();
        published.share("mine", mine.volume(), false, Optional.of("new"));
        assertEquals(Set.of("user-u1", "new"), readersOf("mine"));
        world.store().publish(Grants.NONE);
        published.share("mine", mine.volume(), false, Optional.of("new"));
        published.share("mine", mine.volume(), false, Optional.empty());
        published.share("all", all.volume(), true, Optional.of("whoever"));
        assertEquals(Set.of(), world.store().last().datasets().keySet(), "what is known to be there costs nothing");
        published.share("mine", all.volume(), false, Optional.of("new"));
        assertEquals(Set.of("new"), readersOf("mine"), "another image has other readers");
    }

    @Test
    void anAccountThatNobodyUnderstandsHoldsUpNoOther() {
        world.kubernetes.annotate("user-monitoring", Map.of());
        world.declare(Map.of("mine", List.of("u1", "u2")));
        look();
        assertEquals(Set.of("user-u1", "user-u2", "team"), readersOf("mine"));
        world.faults.put("monitoring", new DriverException.BackendFault("uidNumber is no number from 1000"));
        world.declare(Map.of("mine", List.of("u1"), "new", List.of("u2")));
        look();
        assertEquals(Set.of("user-u1"), readersOf("mine"));
        assertEquals(Set.of("user-u2", "team"), readersOf("new"));
    }

    @Test
    void whoseAccountIsNotUnderstoodKeepsWhatItHad() {
        world.declare(Map.of("mine", List.of("u1"), "vision", List.of("group:vision")));
        look();
        world.faults.put("u1", new DriverException.BackendFault("two entries"));
        world.kubernetes.annotate("team", Map.of("siphon.dev/owners", "u1,u2"));
        look();
        assertEquals(Set.of("user-u1"), readersOf("mine"));
        assertEquals(Set.of("user-u2", "team"), readersOf("vision"));
    }

    @Test
    void aSilentDirectoryIsAskedOnceAndHoldsUpNothingElse() {
        world.declare(Map.of("mine", List.of("u1"), "old", List.of("u2"), "all", List.of("u2")));
        look();
        for (String name : List.of("u1", "u2")) {
            world.faults.put(name, new DriverException.BackendUnavailable("no answer"));
        }
        world.declare(Map.of("mine", List.of("u1"), "all", List.of("*")));
        look();
        assertEquals(Set.of("user-u1"), readersOf("mine"));
        assertEquals(Set.of("mine", "all"), world.store().last().datasets().keySet());
        assertTrue(world.store().last().dataset("all").orElseThrow().everybody());
    }

    @Test
    void aClusterThatHangsKeepsNobodyAReaderAndIsAskedOnce() {
        MintedKeys minted = new MintedKeys();
        world.keys = Optional.of(minted.keys(world.files()));
        world.declare(Map.of("one", List.of("u1"), "two", List.of("u1"), "three", List.of("u1")));
        look();
        minted.hangs =
                () -> assertEquals(Set.of("user-u2", "team"), readersOf("three"), "published before Ceph is asked");
        world.declare(Map.of("three", List.of("u2")));
        look();
        assertEquals(1, minted.asked);
        assertEquals(
                3, world.store().last().datasets().size(), "what may have a key is remembered, and nobody may read it");
        assertEquals(
                1,
                world.store().last().datasets().values().stream()
                        .filter(shared -> !shared.namespaces().isEmpty())
                        .count());
        minted.hangs = null;
        look();
        assertEquals(Set.of("three"), world.store().last().datasets().keySet());
        assertEquals(2, minted.removed.size());
    }

    @Test
    void theKeyOfWhatWasDeclaredAnewElsewhereIsRemovedThoughAVolumeCameFirst() {
        MintedKeys minted = new MintedKeys();
        world.keys = Optional.of(minted.keys(world.files()));
        world.declare(Map.of("mine", List.of("u1")));
        look();
        Shared old = world.store().last().dataset("mine").orElseThrow();
        String anew = "{\"mine\":{\"fsName\":\"%s\",\"path\":\"/anew\",\"digest\":\"%s\",\"readers\":[\"u1\"]}}"
                .formatted(old.volume().fileSystem(), DatasetsWorld.DIGEST);
        world.write(anew);
        VolumeId.DatasetVolume now = new VolumeId.DatasetVolume(
                old.volume().cluster(), old.volume().fileSystem(), old.volume().digest(), Optional.empty(), "/anew");
        published.share("mine", now, false, Optional.of("user-u1"));
        look();
        assertEquals(
                Set.of("siphon-dataset." + old.volume().fileSystem() + "." + CephNames.dataset(old.volume())),
                minted.removed);
        assertEquals(Set.of("mine"), world.store().last().datasets().keySet());
    }

    @Test
    void whatIsDeclaredAndSharedWhileSomebodyLooksStays() {
        world.declare(Map.of("mine", List.of("u1"), "gone", List.of("u1")));
        look();
        Grants before = published.published();
        Shared mine = before.dataset("mine").orElseThrow();
        VolumeId.DatasetVolume there = before.dataset("gone").orElseThrow().volume();
        published.share("new", there, false, Optional.of("user-u1"));
        var _ = published.shareOnly(before, Map.of("mine", mine));
        assertEquals(Set.of("mine", "new"), world.store().last().datasets().keySet());
    }

    @Test
    void theKeyOfAVolumeThatIsBeingMadeIsNotRemoved() {
        MintedKeys minted = new MintedKeys();
        world.keys = Optional.of(minted.keys(world.files()));
        world.declare(Map.of("mine", List.of("u1")));
        look();
        minted.whileGiven = () -> {
            world.declare(Map.of());
            look();
        };
        DatasetVolumes volumes = world.volumes();
        var _ = volumes.create(volumes.check(DatasetsWorld.request("user-u1", Map.of()), "mine"));
        look();
        assertEquals(Set.of(), minted.removed);
        world.volumes().remove(minted.kept.keySet().iterator().next());
        look();
        assertEquals(1, minted.removed.size());
    }
}
