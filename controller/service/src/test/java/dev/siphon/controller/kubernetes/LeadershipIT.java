package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.ceph.CephLab;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The contract on a real API server, and faults there in real time.
@Tag("kubernetes")
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class LeadershipIT extends LeadershipContract {
    /// By then another controller leads (docs/how-to/recovery.md).
    private static final Duration TAKEN_OVER = Duration.ofSeconds(25);

    /// More renewals than a standby may miss.
    private static final int RENEWALS = 10;

    private TestCluster cluster;

    @TempDir
    private Path folder;

    @BeforeAll
    void start(@TempDir Path own) {
        cluster = KubernetesLab.start(own);
    }

    @AfterAll
    void stop() {
        cluster.close();
    }

    @Override
    TestCluster cluster() {
        return cluster;
    }

    private String server() {
        return Connection.config(cluster.access()).getMasterUrl();
    }

    private Relay relay() {
        return new Relay(URI.create(server()));
    }

    private KubernetesAccess through(Relay relay) throws IOException {
        String direct = Files.readString(cluster.access().kubeconfig().orElseThrow());
        Path relayed = Files.createTempFile(folder, "relayed", "");
        Files.writeString(relayed, direct.replace(server().replaceFirst("/$", ""), relay.url()));
        return new KubernetesAccess(cluster.access().namespace(), Optional.of(relayed));
    }

    /// Waits until the Lease was renewed this many times.
    private void awaitRenewals(int renewals) {
        Set<ZonedDateTime> seen = new HashSet<>();
        CephLab.await(TAKEN_OVER.multipliedBy(2), () -> {
            Optional.ofNullable(lease().get())
                    .ifPresent(found -> seen.add(found.getSpec().getRenewTime()));
            return seen.size() > renewals;
        });
    }

    @Test
    void oneLeadsAndTheNextOneFollowsAtOnce() throws Exception {
        CompletableFuture<Void> lost = new CompletableFuture<>();
        Leadership first = Leadership.seek(cluster.access(), "pod-1", () -> lost.complete(null));
        first.await();
        try (Leadership second = Leadership.seek(cluster.access(), "pod-2", () -> {})) {
            CephLab.await(TAKEN_OVER, () -> second.leader().contains("pod-1"));
            assertTrue(second.lease().isEmpty());
            long began = System.nanoTime();
            first.close();
            second.await();

            // far less than a Lease that was not released would take
            assertEquals(0, TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began) / 10);
            assertFalse(lost.isDone(), "who ends in order has lost nothing");
            assertEquals(first.lease(), second.lease(), "who leads next is the same to Ceph");
        }
    }

    @Test
    void whoseLeaseIsTakenAwayIsToldSo() throws Exception {
        CompletableFuture<Void> lost = new CompletableFuture<>();
        try (Leadership leadership = Leadership.seek(cluster.access(), "pod-3", () -> lost.complete(null))) {
            leadership.await();
            Lease _ = lease().patch(
                            PatchContext.of(PatchType.JSON_MERGE), "{\"spec\": {\"holderIdentity\": \"somebody\"}}");
            lost.get(Leadership.RENEWED.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void theLeadersNetworkIsCutWithoutAWord() throws Exception {
        try (Relay relay = relay();
                StandingControllers controllers = new StandingControllers()) {
            controllers.stand("pod-1", through(relay));
            var _ = controllers.awaitLeaders(TAKEN_OVER, leaders -> leaders.contains("pod-1"));
            controllers.stand("pod-2", cluster.access());
            awaitRenewals(2);
            relay.cut();
            var _ = controllers.awaitLeaders(TAKEN_OVER, leaders -> leaders.contains("pod-2"));
            controllers.checkNeverTwo();
        }
    }

    @Test
    void ofTwoStandbysOneFollows() throws Exception {
        try (Relay relay = relay();
                StandingControllers controllers = new StandingControllers()) {
            controllers.stand("pod-1", through(relay));
            var _ = controllers.awaitLeaders(TAKEN_OVER, leaders -> leaders.contains("pod-1"));
            controllers.stand("pod-2", cluster.access());
            controllers.stand("pod-3", cluster.access());
            awaitRenewals(2);
            relay.cut();
            Set<String> next = controllers.awaitLeaders(
                    TAKEN_OVER, leaders -> leaders.contains("pod-2") || leaders.contains("pod-3"));
            awaitRenewals(RENEWALS);
            assertEquals(next, controllers.leaders());
            controllers.checkNeverTwo();
        }
    }

    /// A standby's clock is wrong, both while it waits and when it leads.
    @ParameterizedTest
    @ValueSource(strings = {"PT5M", "-PT5M"})
    void aClockIsFiveMinutesOff(Duration ahead) throws Exception {
        try (Relay relay = relay();
                StandingControllers controllers = new StandingControllers()) {
            controllers.stand("right", through(relay));
            var _ = controllers.awaitLeaders(TAKEN_OVER, leaders -> leaders.contains("right"));
            controllers.stand("wrong", cluster.access(), ahead);
            awaitRenewals(RENEWALS);
            assertEquals(1, controllers.changes().size(), "the standby waited: " + controllers.changes());
            relay.cut();
            var _ = controllers.awaitLeaders(TAKEN_OVER, leaders -> leaders.contains("wrong"));
            int before = controllers.changes().size();
            controllers.stand("third", cluster.access());
            awaitRenewals(RENEWALS);
            assertEquals(before, controllers.changes().size(), "it is left alone: " + controllers.changes());
            controllers.checkNeverTwo();
        }
    }

    @Test
    void theApiServerIsStartedAgain() throws Exception {
        try (StandingControllers controllers = new StandingControllers()) {
            controllers.stand("pod-1", cluster.access());
            controllers.stand("pod-2", cluster.access());
            var _ = controllers.awaitLeaders(TAKEN_OVER, leaders -> leaders.size() == 1);
            awaitRenewals(2);
            CephLab.daemon("sig", "KILL", "kube-apiserver");
            // longer than a leader may continue without the server
            var _ = controllers.awaitLeaders(TAKEN_OVER, leaders -> leaders.isEmpty());
            CephLab.daemon("start", "kube-apiserver");
            KubernetesLab.awaitApi(cluster, TAKEN_OVER.multipliedBy(2));
            var _ = controllers.awaitLeaders(TAKEN_OVER, leaders -> leaders.size() == 1);
            CephLab.daemon("sig", "KILL", "kube-apiserver");
            CephLab.daemon("start", "kube-apiserver");
            KubernetesLab.awaitApi(cluster, TAKEN_OVER.multipliedBy(2));
            var _ = controllers.awaitLeaders(TAKEN_OVER, leaders -> leaders.size() == 1);
            awaitRenewals(RENEWALS);
            controllers.checkNeverTwo();
        }
    }

    /// The network has forgotten the connection: requests on it get no reply for a quarter of an hour.
    @Test
    void connectionsAreForgottenByTheNetwork() throws Exception {
        try (Relay ofLeader = relay();
                Relay ofStandby = relay();
                StandingControllers controllers = new StandingControllers()) {
            controllers.stand("pod-1", through(ofLeader));
            var _ = controllers.awaitLeaders(TAKEN_OVER, leaders -> leaders.contains("pod-1"));
            controllers.stand("pod-2", through(ofStandby));
            awaitRenewals(2);
            ofLeader.forget();
            awaitRenewals(RENEWALS);
            assertEquals(1, controllers.changes().size(), "the leader goes on: " + controllers.changes());
            ofStandby.forget();
            ofLeader.cut();
            var _ = controllers.awaitLeaders(TAKEN_OVER, leaders -> leaders.contains("pod-2"));
            controllers.checkNeverTwo();
        }
    }
}
