package dev.siphon.e2e.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Daemon;
import dev.siphon.e2e.lab.Lab;
import io.grpc.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// Stops, kills or pauses each daemon of a cluster for 30 s under load, while a second cluster keeps working.
@Tag("slow")
@ExtendWith(LeavesNothingBehind.class)
final class ChaosIT {
    private static final Duration FAULT = Duration.ofSeconds(30);
    private static final Duration RECOVERY = Duration.ofSeconds(60);
    private static final Duration DEADLINE = Duration.ofSeconds(8);
    private static final Duration GRACE = Duration.ofSeconds(10);
    private static final int CALLERS = 6;
    private static final Set<Status.Code> ALLOWED =
            EnumSet.of(Status.Code.OK, Status.Code.UNAVAILABLE, Status.Code.DEADLINE_EXCEEDED, Status.Code.ABORTED);

    @AfterEach
    void restoreDaemons() {
        for (Daemon daemon : List.of(Daemon.MON, Daemon.MGR, Daemon.MDS)) {
            daemon.restore();
        }
    }

    @Test
    void mdsStopped() {
        under(
                () -> {
                    Daemon.MDS.terminate();
                    Await.pass(FAULT);
                },
                Daemon.MDS::start);
    }

    @Test
    void mgrKilled() {
        under(
                () -> {
                    Daemon.MGR.kill();
                    Await.pass(FAULT);
                },
                Daemon.MGR::start);
    }

    @Test
    void monPaused() {
        under(
                () -> {
                    Daemon.MON.pause();
                    Await.pass(FAULT);
                },
                Daemon.MON::resume);
    }

    @Test
    void mgrPausedAndThenKilledSoThatRepliesNeverCome() {
        under(
                () -> {
                    Daemon.MGR.pause();
                    Await.pass(FAULT);
                    Daemon.MGR.kill();
                },
                Daemon.MGR::start);
    }

    @Test
    void shutdownDuringAHangEndsInTime() {
        try (DriverFolder folder = DriverFolder.create();
                ServedProcess controller = folder.controller("--drain-timeout=3", "--shutdown-timeout=6");
                CsiClient client = CsiClient.to(controller.endpoint())) {
            Daemon.MGR.pause();
            var hanging = CompletableFuture.supplyAsync(() ->
                    Outcome.of(() -> client.controller().createVolume(Requests.volume("hangs", "u1", Requests.GIB))));
            Await.until(
                    "the call is in the driver",
                    Duration.ofSeconds(10),
                    () -> controller.metrics().contains("siphon_rpc_in_flight 1"));

            int exit = controller.terminate(Duration.ofSeconds(9));

            assertNotEquals(137, exit);
            assertFalse(hanging.join().ok());
            Daemon.MGR.resume();
        }
        try (DriverFolder folder = DriverFolder.create();
                ServedProcess controller = folder.controller();
                CsiClient client = CsiClient.to(controller.endpoint())) {
            String id = client.controller()
                    .createVolume(Requests.volume("hangs", "u1", Requests.GIB))
                    .getVolume()
                    .getVolumeId();
            client.controller().deleteVolume(Requests.delete(id));
        }
    }

    /// Runs `fault` under load, then `recovery`, and checks the driver's replies meanwhile.
    private static void under(Runnable fault, Runnable recovery) {
        try (DriverFolder folder = DriverFolder.create(Map.of("lab", Lab.here(), "second", Lab.second()));
                ServedProcess controller = folder.controller("--rpc-timeout=" + DEADLINE.toSeconds());
                Probes probes = Probes.of(controller);
                Traffic here = Traffic.start(controller.endpoint(), "lab", "strict-", CALLERS, DEADLINE);
                // this caller waits longer, so the driver's own deadline ends its calls
                Traffic patient = Traffic.start(controller.endpoint(), "lab", "patient-", 1, DEADLINE.plus(GRACE));
                Traffic other = Traffic.start(controller.endpoint(), "second", "other-", 2, DEADLINE)) {
            Await.pass(Duration.ofSeconds(3));
            Instant began = Instant.now();

            fault.run();

            assertFalse(probes.isReady(), "/readyz is green at the end of the fault");
            recovery.run();
            List.of(here, patient, other).forEach(Traffic::stop);
            here.useEveryName(RECOVERY);
            patient.useEveryName(RECOVERY);
            Await.until("ready again", RECOVERY, probes::isReady);

            assertTrue(probes.alwaysAlive(), "/healthz stayed green");
            check(here.since(began), DEADLINE.plus(GRACE));
            check(patient.since(began), DEADLINE.plus(GRACE));
            List<Traffic.Seen> beside = other.since(began);
            assertFalse(beside.isEmpty());
            beside.forEach(each -> assertEquals(
                    Status.Code.OK,
                    each.outcome().code(),
                    "in the other cluster: " + each.outcome().message()));
            other.useEveryName(RECOVERY);
        }
        try (CephTree second = CephTree.mount(Lab.second())) {
            second.groups().forEach(group -> {
                assertEquals(List.of(), second.subvolumes(group));
                second.removeGroup(group);
            });
        }
    }

    private static void check(List<Traffic.Seen> seen, Duration limit) {
        assertFalse(seen.isEmpty());
        for (Traffic.Seen each : seen) {
            Outcome<String> outcome = each.outcome();
            assertTrue(ALLOWED.contains(outcome.code()), outcome.code() + ": " + outcome.message());
            assertTrue(
                    outcome.nanos() <= limit.toNanos(),
                    outcome.code() + " after " + Duration.ofNanos(outcome.nanos()) + ": " + outcome.message());
        }
    }
}
