package dev.siphon.e2e.allowance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import dev.siphon.csi.VolumeId;
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
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/// Sends 64 concurrent CreateVolume calls for one account with an allowance of ten volumes, and kills the
/// controller in between. The account never has more than ten.
@Timeout(300)
@ExtendWith(LeavesNothingBehind.class)
final class KilledLeaderIT {
    private static final int CALLERS = 64;
    private static final int ALLOWED = 10;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private static CreateVolumeRequest request(String name) {
        return Requests.volume(name, "u7", Requests.GIB).toBuilder()
                .putParameters("allowance", ALLOWED + "Gi")
                .build();
    }

    private static VolumeId.Provisioned id(CreateVolumeResponse made) {
        return (VolumeId.Provisioned)
                VolumeId.tryParse(made.getVolume().getVolumeId()).orElseThrow();
    }

    private static Status.Code create(CsiClient client, String name) {
        return Outcome.of(() -> client.controller().createVolume(request(name))).code();
    }

    /// Retries as a sidecar does, until a retry no longer changes the result.
    private static Status.Code createPatiently(CsiClient client, String name) {
        long end = System.nanoTime() + LIMIT.toNanos();
        Status.Code code = create(client, name);
        while (code != Status.Code.OK && code != Status.Code.RESOURCE_EXHAUSTED && System.nanoTime() < end) {
            Await.pass(Duration.ofMillis(200));
            code = create(client, name);
        }
        return code;
    }

    private static List<String> names(String wave) {
        return IntStream.range(0, CALLERS).mapToObj(number -> wave + number).toList();
    }

    /// Retries all names and counts those that exist.
    private static long settle(CsiClient client, ExecutorService callers, List<String> names) throws Exception {
        long made = 0;
        List<Future<Status.Code>> codes = names.stream()
                .map(name -> callers.submit(() -> createPatiently(client, name)))
                .toList();
        for (Future<Status.Code> each : codes) {
            Status.Code code = each.get();
            assertTrue(code == Status.Code.OK || code == Status.Code.RESOURCE_EXHAUSTED, () -> "answered " + code);
            made += code == Status.Code.OK ? 1 : 0;
        }
        return made;
    }

    private static void clean(CsiClient client, List<String> subvolumes, VolumeId.Provisioned any) {
        for (String name : subvolumes) {
            var id = new VolumeId.Provisioned(any.cluster(), any.fileSystem(), any.group(), name);
            var _ = client.controller().deleteVolume(Requests.delete(id.toString()));
        }
    }

    @Test
    void neverMoreThanTheAllowanceThoughKilledAgainAndAgain() throws Exception {
        try (DriverFolder folder = DriverFolder.create();
                CephTree tree = CephTree.mount(Lab.here());
                ExecutorService callers = Executors.newFixedThreadPool(CALLERS)) {
            VolumeId.Provisioned first;
            try (ServedProcess controller = folder.controller();
                    CsiClient client = CsiClient.to(controller.endpoint())) {
                first = id(client.controller().createVolume(request("wave-0")));
            }
            for (int there : List.of(2, 4, 7)) {
                try (ServedProcess controller = folder.controller();
                        CsiClient client = CsiClient.to(controller.endpoint())) {
                    List<Future<Status.Code>> calls = names("wave-").stream()
                            .map(name -> callers.submit(() -> create(client, name)))
                            .toList();
                    Await.until(
                            there + " volumes",
                            LIMIT,
                            () -> tree.subvolumes(first.group()).size() >= there);
                    controller.kill();
                    for (Future<Status.Code> each : calls) {
                        var _ = each.get();
                    }
                }
            }
            try (ServedProcess controller = folder.controller();
                    CsiClient client = CsiClient.to(controller.endpoint())) {
                long made = settle(client, callers, names("wave-"));
                List<String> there = tree.subvolumes(first.group());
                clean(client, there, first);
                assertEquals(ALLOWED, made);
                assertEquals(ALLOWED, there.size(), "in Ceph: " + there);
            }
        }
    }

    /// A killed controller's commands still wait at a hanging mgr when the next controller starts. That one gets
    /// requests for other volumes.
    @Test
    void whatTheDeadLeaderSentCountsForTheNext() throws Exception {
        try (DriverFolder folder = DriverFolder.create();
                CephTree tree = CephTree.mount(Lab.here());
                ExecutorService callers = Executors.newFixedThreadPool(CALLERS)) {
            VolumeId.Provisioned first;
            try (ServedProcess controller = folder.controller();
                    CsiClient client = CsiClient.to(controller.endpoint())) {
                first = id(client.controller().createVolume(request("first")));
                Daemon.MGR.pause();
                AtomicInteger refused = new AtomicInteger();
                List<Future<?>> calls = names("old-").stream()
                        .<Future<?>>map(name -> callers.submit(() -> {
                            if (create(client, name) == Status.Code.RESOURCE_EXHAUSTED) {
                                refused.incrementAndGet();
                            }
                        }))
                        .toList();
                Await.until("all others were sent", LIMIT, () -> refused.get() == CALLERS - ALLOWED + 1);
                controller.kill();
                for (Future<?> each : calls) {
                    var _ = each.get();
                }
            } finally {
                Daemon.MGR.restore();
            }
            try (ServedProcess controller = folder.startController().awaitServing();
                    CsiClient client = CsiClient.to(controller.endpoint())) {
                long made = settle(client, callers, names("new-"));
                List<String> there = tree.subvolumes(first.group());
                clean(client, there, first);
                // the number of the old commands that Ceph still ran depends on what the mgr had read of them
                assertEquals(ALLOWED, there.size(), "in Ceph: " + there);
                assertTrue(made < ALLOWED, () -> made + " new ones");
            }
        }
    }
}
