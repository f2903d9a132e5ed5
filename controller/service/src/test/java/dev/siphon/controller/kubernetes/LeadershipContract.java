package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.kubernetes.Leadership.Clocks;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// [Leadership] step by step over an API server, with a monotonic clock that the test moves.
abstract class LeadershipContract {
    private static final Duration MOMENT = Duration.ofNanos(1);

    private final AtomicLong nanos = new AtomicLong();

    /// How far each reading advances the clock.
    private final AtomicLong perLook = new AtomicLong();

    private final List<Leadership> standing = new ArrayList<>();
    private final Set<String> lost = ConcurrentHashMap.newKeySet();

    abstract TestCluster cluster();

    @BeforeEach
    void begin() {
        nanos.set(0);
        perLook.set(0);
        lost.clear();
        removeLease();
    }

    private void removeLease() {
        var _ = lease().delete();
    }

    @AfterEach
    void close() {
        standing.forEach(Leadership::close);
        standing.clear();
    }

    Resource<Lease> lease() {
        return cluster()
                .admin()
                .leases()
                .inNamespace(cluster().access().namespace())
                .withName(Leadership.LEASE);
    }

    private Leadership stand(String name) {
        return stand(name, Duration.ZERO);
    }

    /// @param ahead how far its wall clock is ahead
    private Leadership stand(String name, Duration ahead) {
        Clocks clocks =
                new Clocks(() -> nanos.getAndAdd(perLook.get()), InstantSource.offset(InstantSource.system(), ahead));
        Leadership leadership = new Leadership(cluster().access(), name, () -> lost.add(name), clocks);
        standing.add(leadership);
        return leadership;
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    private static boolean leads(Leadership leadership) {
        return !leadership.lease().isEmpty();
    }

    @Test
    void oneLeadsAndAnotherOneStandsBy() {
        Leadership first = stand("pod-1");
        Leadership second = stand("pod-2");
        assertEquals("nobody leads yet", second.leader());
        first.attempt();
        second.attempt();
        assertTrue(leads(first));
        assertFalse(leads(second));
        assertEquals("\"pod-1\" leads", first.leader());
        assertEquals("\"pod-1\" leads", second.leader());
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT5M", "-PT5M", "PT876000H"})
    void aLeaseIsAsOldAsItsLastChangeWhateverClocksSay(Duration ahead) {
        Leadership first = stand("pod-1");
        Leadership second = stand("pod-2", ahead);
        for (int renewals = 0; renewals < 10; renewals++) {
            first.attempt();
            second.attempt();
            assertFalse(leads(second));
            pass(Leadership.RETRIED);
        }
        pass(Leadership.HELD.minus(Leadership.RETRIED).minus(MOMENT));
        second.attempt();
        assertFalse(leads(second));
        pass(MOMENT);
        second.attempt();
        assertTrue(leads(second));
        first.attempt();
        assertEquals(Set.of("pod-1"), lost);
    }

    @Test
    void aLeaderWhoDoesNotRenewInTimeStopsBeforeTheNextOneMayBegin() {
        Leadership first = stand("pod-1");
        first.attempt();
        pass(Leadership.RENEWED);
        first.look();
        assertEquals(Set.of(), lost);
        pass(MOMENT);
        first.look();
        first.look();
        assertEquals(Set.of("pod-1"), lost);
        assertTrue(Leadership.RENEWED.compareTo(Leadership.HELD) < 0);
    }

    @Test
    void aRenewalCountsFromWhenItWasBegun() {
        Leadership first = stand("pod-1");
        perLook.set(Duration.ofSeconds(4).toNanos());
        first.attempt();
        perLook.set(0);
        assertTrue(leads(first));
        pass(Leadership.RENEWED.minus(Duration.ofNanos(nanos.get())).plus(MOMENT));
        first.look();
        assertEquals(Set.of("pod-1"), lost);
    }

    @Test
    void whoGetsTheLeaseTooLateLeadsWithTheNextRenewal() {
        Leadership first = stand("pod-1");
        perLook.set(Leadership.RENEWED.toNanos());
        first.attempt();
        perLook.set(0);
        assertFalse(leads(first));
        first.attempt();
        assertTrue(leads(first));
    }

    @Test
    void whoseLeaseIsTakenAwayStops() {
        Leadership first = stand("pod-1");
        first.attempt();
        Lease _ =
                lease().patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\": {\"holderIdentity\": \"somebody\"}}");
        first.attempt();
        assertEquals(Set.of("pod-1"), lost);
    }

    @Test
    void aLeaseThatSomebodyElseHasLabelledIsRenewed() {
        Leadership first = stand("pod-1");
        first.attempt();
        Lease _ = lease().patch(PatchContext.of(PatchType.JSON_MERGE), "{\"metadata\": {\"labels\": {\"a\": \"b\"}}}");
        pass(Leadership.RENEWED);
        first.attempt();
        pass(Leadership.RENEWED);
        first.look();
        assertEquals(Set.of(), lost);
        assertEquals("b", lease().get().getMetadata().getLabels().get("a"));
    }

    @Test
    void aLeaseThatWasDeletedIsItsHoldersUntilThatWouldHaveStopped() {
        Leadership first = stand("pod-1");
        Leadership second = stand("pod-2");
        first.attempt();
        second.attempt();
        removeLease();
        second.attempt();
        pass(Leadership.RENEWED);
        second.attempt();
        assertFalse(leads(second));
        first.attempt();
        pass(Leadership.RENEWED);
        second.attempt();
        first.look();
        assertFalse(leads(second));
        assertEquals(Set.of(), lost);

        removeLease();
        second.attempt();
        pass(Leadership.HELD);
        second.attempt();
        assertTrue(leads(second));
    }

    @Test
    void aLeaseThatIsGivenBackIsTakenAtOnce() {
        Leadership first = stand("pod-1");
        Leadership second = stand("pod-2");
        first.attempt();
        second.attempt();
        String lease = first.lease();
        first.close();
        second.attempt();
        assertEquals(lease, second.lease(), "who leads next is the same to Ceph");
        assertEquals(Set.of(), lost, "who ends in order has lost nothing");
        assertEquals(1, lease().get().getSpec().getLeaseTransitions());
        first.close();
        second.attempt();
        pass(Leadership.RENEWED);
        second.look();
        assertEquals(Set.of(), lost, "who has given it back does not do so again");
    }

    @Test
    void whoIsStartedAgainUnderTheSameNameTakesItsLeaseAtOnce() {
        stand("pod-1").attempt();
        Leadership again = stand("pod-1");
        again.attempt();
        assertTrue(leads(again));
    }

    @Test
    void ofTwoWhoTakeAnOldLeaseAtOnceOneLeads() throws Exception {
        for (int round = 0; round < 20; round++) {
            removeLease();
            stand("pod-1").attempt();
            List<Leadership> both = List.of(stand("pod-2"), stand("pod-3"));
            both.forEach(Leadership::attempt);
            pass(Leadership.HELD);
            CyclicBarrier together = new CyclicBarrier(both.size());
            List<Thread> attempts = both.stream()
                    .map(each -> Thread.ofPlatform().start(() -> {
                        await(together);
                        each.attempt();
                    }))
                    .toList();
            for (Thread each : attempts) {
                each.join();
            }
            assertEquals(1, both.stream().filter(LeadershipContract::leads).count(), "round " + round);
        }
    }

    private static void await(CyclicBarrier barrier) {
        try {
            int _ = barrier.await();
        } catch (Exception interrupted) {
            throw new IllegalStateException(interrupted);
        }
    }
}
