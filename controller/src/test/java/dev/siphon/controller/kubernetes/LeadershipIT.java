package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("kubernetes")
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class LeadershipIT {
    private TestCluster cluster;

    @BeforeAll
    void start(@TempDir Path folder) {
        cluster = KubernetesLab.start(folder);
    }

    @AfterAll
    void stop() {
        cluster.close();
    }

    /// No test has to wait for what another one has left.
    @BeforeEach
    void removeLease() {
        var _ = cluster.admin()
                .leases()
                .inNamespace(cluster.access().namespace())
                .withName(Leadership.LEASE)
                .delete();
    }

    private static CompletableFuture<Void> waiting(Leadership leadership) {
        CompletableFuture<Void> leads = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                leadership.await();
                leads.complete(null);
            } catch (InterruptedException e) {
                leads.completeExceptionally(e);
            }
        });
        return leads;
    }

    @Test
    void oneLeadsAndTheNextOneFollowsAtOnce() throws Exception {
        CompletableFuture<Void> lost = new CompletableFuture<>();
        Leadership first = Leadership.seek(cluster.access(), "pod-1", () -> lost.complete(null));
        first.await();
        try (Leadership second = Leadership.seek(cluster.access(), "pod-2", () -> {})) {
            CompletableFuture<Void> leads = waiting(second);
            while (!second.leader().contains("pod-1")) {
                LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
            }
            assertFalse(leads.isDone());
            String lease = first.lease();

            long began = System.nanoTime();
            first.close();
            leads.get(Leadership.HELD.toSeconds(), TimeUnit.SECONDS);

            // far less than a Lease that nobody gave back would have taken
            assertEquals(0, TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began) / 10);
            assertFalse(lost.isDone(), "who ends in order has lost nothing");
            assertEquals(lease, second.lease(), "who leads next is the same to Ceph");
        }
    }

    @Test
    void whoseLeaseIsTakenAwayIsToldSo() throws Exception {
        CompletableFuture<Void> lost = new CompletableFuture<>();
        try (Leadership leadership = Leadership.seek(cluster.access(), "pod-3", () -> lost.complete(null))) {
            leadership.await();
            var lease = cluster.admin()
                    .leases()
                    .inNamespace(cluster.access().namespace())
                    .withName(Leadership.LEASE);
            Lease _ = lease.patch(
                    PatchContext.of(PatchType.JSON_MERGE), "{\"spec\": {\"holderIdentity\": \"somebody\"}}");
            lost.get(Leadership.HELD.toSeconds(), TimeUnit.SECONDS);
        }
    }

    /// The Lease is renewed every second by somebody whose clock is a minute late.
    @Test
    void aLateClockLosesNoLease() {
        renewLate();
        try (Leadership second = Leadership.seek(cluster.access(), "pod-4", () -> {})) {
            CompletableFuture<Void> leads = waiting(second);
            for (int renewals = 0; renewals < 6; renewals++) {
                assertThrows(TimeoutException.class, () -> leads.get(1, TimeUnit.SECONDS));
                renewLate();
            }
        }
    }

    private void renewLate() {
        Lease late = new LeaseBuilder()
                .withNewMetadata()
                .withName(Leadership.LEASE)
                .withNamespace(cluster.access().namespace())
                .endMetadata()
                .withNewSpec()
                .withHolderIdentity("late")
                .withLeaseDurationSeconds((int) Leadership.HELD.toSeconds())
                .withAcquireTime(ZonedDateTime.now(ZoneOffset.UTC).minusMinutes(1))
                .withRenewTime(ZonedDateTime.now(ZoneOffset.UTC).minusMinutes(1))
                .endSpec()
                .build();
        var _ = cluster.admin().resource(late).forceConflicts().serverSideApply();
    }

    @Test
    void whoIsNotAnsweredStopsBeforeTheNextOneBegins(@TempDir Path folder) throws Exception {
        String server = Connection.config(cluster.access()).getMasterUrl();
        try (Relay relay = new Relay(URI.create(server))) {
            String direct = Files.readString(cluster.access().kubeconfig().orElseThrow());
            Path relayed = Files.writeString(
                    folder.resolve("relayed"), direct.replace(server.replaceFirst("/$", ""), relay.url()));
            CompletableFuture<Void> lost = new CompletableFuture<>();
            KubernetesAccess access = new KubernetesAccess(cluster.access().namespace(), Optional.of(relayed));
            try (Leadership first = Leadership.seek(access, "pod-5", () -> lost.complete(null))) {
                first.await();
                try (Leadership second = Leadership.seek(cluster.access(), "pod-6", () -> {})) {
                    relay.cut();
                    second.await();
                    assertTrue(lost.isDone(), "two lead at once");
                }
            }
        }
    }
}
