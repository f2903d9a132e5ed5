package dev.siphon.e2e.kernel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.CapacityRange;
import csi.v1.ControllerExpandVolumeRequest;
import csi.v1.NodeExpandVolumeRequest;
import csi.v1.NodeGetVolumeStatsRequest;
import csi.v1.Snapshot;
import csi.v1.Volume;
import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import io.grpc.Status;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Volumes of the real controller on two nodes with the kernel's client: two guests of the lab.
@Tag("kernel")
final class TwoNodesIT {
    private static final int U1 = 10001;
    private static final int U2 = 10002;

    /// The length of the network outage: longer than the MDS waits for a silent client (60 s).
    private static final Duration CUT = Duration.ofSeconds(90);

    /// The time for a client to resume or fail once its network is back.
    private static final Duration BACK = Duration.ofMinutes(2);

    private static Optional<World> world = Optional.empty();

    /// The processes that all tests share. Each test has its own volumes.
    private record World(
            DriverFolder folder, ServedProcess process, CsiClient controller, GuestNode one, GuestNode two) {
        static World start() {
            DriverFolder folder = DriverFolder.create();
            ServedProcess process = folder.controller();
            return new World(
                    folder,
                    process,
                    CsiClient.to(process.endpoint()),
                    GuestNode.start(1, folder.file("."), "--syscall-timeout=2"),
                    GuestNode.start(2, folder.file("."), "--syscall-timeout=2"));
        }

        void close() {
            try (folder;
                    process;
                    controller;
                    two) {
                one.close();
            }
        }
    }

    @BeforeAll
    static void start() {
        world = Optional.of(World.start());
    }

    @AfterAll
    static void end() {
        world.ifPresent(World::close);
        world = Optional.empty();
    }

    @AfterEach
    void unmountAll() {
        one().mounts().close();
        two().mounts().close();
        assertEquals(List.of(), one().cephMounts());
        assertEquals(List.of(), two().cephMounts());
    }

    private static GuestNode one() {
        return world.orElseThrow().one();
    }

    private static GuestNode two() {
        return world.orElseThrow().two();
    }

    private static CsiClient controller() {
        return world.orElseThrow().controller();
    }

    private static Volume create(String name, long bytes) {
        return controller()
                .controller()
                .createVolume(Requests.volume(name, "u1", bytes))
                .getVolume();
    }

    private static void delete(Volume volume) {
        one().mounts().close();
        two().mounts().close();
        var _ = controller().controller().deleteVolume(Requests.delete(volume.getVolumeId()));
    }

    private static String said(Command.Result result) {
        assertEquals(0, result.exit(), result::output);
        return result.output().strip();
    }

    @Test
    void whatOneNodeWritesTheOtherReads() {
        Volume volume = create("shared", Requests.GIB);
        Path here = one().mount(volume, Requests.shared());
        Path there = two().mount(volume, Requests.shared());

        said(one().guest().as(U1, here, "echo first >\"$1/log\""));
        said(two().guest().as(U1, there, "echo second >>\"$1/log\""));
        assertEquals("first\nsecond", said(one().guest().as(U1, here, "cat \"$1/log\"")));
        said(one().guest().as(U1, here, "mv \"$1/log\" \"$1/renamed\""));
        assertEquals("renamed", said(two().guest().as(U1, there, "ls \"$1\"")));
        assertNotEquals(0, two().guest().as(U2, there, "cat \"$1/renamed\"").exit(), "another account's");
        delete(volume);
    }

    @Test
    void aLockOfOneNodeKeepsTheOtherOut() throws IOException {
        Volume volume = create("locked", Requests.GIB);
        Path here = one().mount(volume, Requests.shared());
        Path there = two().mount(volume, Requests.shared());
        String attempt = "flock --nonblock \"$1/lock\" true";
        Process holder = one().guest()
                .start(
                        world.orElseThrow().folder().file("holder.log"),
                        "sh",
                        "-c",
                        "flock \"$1/lock\" sh -c 'touch \"$1/held\"; sleep 100' sh \"$1\"",
                        "sh",
                        here.toString());
        Await.until(
                "the lock is held",
                Duration.ofSeconds(20),
                () -> two().guest().as(0, there, "test -e \"$1/held\"").exit() == 0);
        assertNotEquals(0, two().guest().as(0, there, attempt).exit());
        holder.destroy();
        Await.until(
                "the lock is free",
                Duration.ofSeconds(20),
                () -> two().guest().as(0, there, attempt).exit() == 0);
        delete(volume);
    }

    @Test
    void whoReadsAndWritesDoesNotNoticeThatTheNodeIsKilled() throws Exception {
        Volume volume = create("busy", Requests.GIB);
        Path here = one().mount(volume, Requests.shared());
        String work =
                "i=0; until test -e \"$1/stop\"; do i=$((i+1)); echo $i >\"$1/$((i % 50))\" && sync \"$1/$((i % 50))\""
                        + " && test $(cat \"$1/$((i % 50))\") = $i || exit 1; done";
        Process worker = one().guest()
                .start(world.orElseThrow().folder().file("worker.log"), "sh", "-c", work, "sh", here.toString());
        Path there = two().mount(volume, Requests.shared());
        Await.until(
                "the worker works",
                Duration.ofSeconds(20),
                () -> two().guest().as(0, there, "test -e \"$1/9\"").exit() == 0);
        one().killAndStart();
        said(two().guest().as(0, there, "touch \"$1/stop\""));
        assertTrue(worker.waitFor(1, TimeUnit.MINUTES));
        assertEquals(0, worker.exitValue());
        assertEquals(2, one().cephMounts().size());
        delete(volume);
    }

    @Test
    void theGroupIsMountedAndTheDataDirectoryBound() {
        Volume volume = create("bound", Requests.GIB);
        one().mount(volume, Requests.shared());
        List<String> mounts = one().cephMounts();
        assertEquals(2, mounts.size(), mounts::toString);
        String group = volume.getVolumeContextOrThrow("mountPath");
        for (String mount : mounts) {
            assertTrue(mount.contains(":" + group + " rw"), mount);
            assertTrue(mount.contains("nosuid") && mount.contains("nodev"), mount);
            assertTrue(mount.contains("secret=<hidden>"), mount);
        }
        delete(volume);
    }

    @Test
    void whoeverTheContainersAreFilesAreTheAccounts() {
        Volume volume = controller()
                .controller()
                .createVolume(Requests.volume("mapped", "u1", Requests.GIB).toBuilder()
                        .putParameters("containerUser", "root")
                        .build())
                .getVolume();
        Path here = one().mount(volume, Requests.shared());
        Path there = two().mount(volume, Requests.shared());
        said(one().guest().as(0, here, "mkdir \"$1/d\"; echo text >\"$1/d/file\"; sync \"$1/d/file\""));
        assertEquals("text", said(two().guest().as(0, there, "cat \"$1/d/file\"; echo more >>\"$1/d/file\"")));
        // a login host mounts what is staged here, without id mapping
        Path asItIs = two().mounts().staging(volume);
        assertEquals(
                U1 + ":" + U1 + "\n" + U1 + ":" + U1,
                said(two().guest().as(0, asItIs, "stat -c %u:%g \"$1/d\" \"$1/d/file\"")));
        said(two().guest().as(U1, asItIs, "echo own >>\"$1/d/file\"; sync \"$1/d/file\""));
        assertEquals("text\nmore\nown", said(one().guest().as(0, here, "cat \"$1/d/file\"")));
        assertNotEquals(0, two().guest().as(U2, there, "touch \"$1/other\"").exit());
        delete(volume);
    }

    @Test
    void aSnapshotBackedVolumeIsReadOnBothNodes() {
        Volume volume = create("source", Requests.GIB);
        Path source = one().mount(volume, Requests.shared());
        said(one().guest().as(U1, source, "mkdir \"$1/d\"; echo then >\"$1/d/file\"; sync \"$1/d/file\""));
        Snapshot snapshot = controller()
                .controller()
                .createSnapshot(Requests.snapshot("snap", volume.getVolumeId()))
                .getSnapshot();
        said(one().guest().as(U1, source, "echo now >\"$1/d/file\""));

        Volume shallow = controller()
                .controller()
                .createVolume(Requests.readOnly(Requests.fromSnapshot(
                        Requests.volume("shallow", "u1", Requests.GIB), snapshot.getSnapshotId())))
                .getVolume();
        for (GuestNode node : List.of(one(), two())) {
            Path mounted = node.mount(shallow, Requests.mount(Mode.MULTI_NODE_READER_ONLY));
            assertEquals("then", said(node.guest().as(U1, mounted, "cat \"$1/d/file\"")));
            Command.Result written = node.guest().as(U1, mounted, "echo no >\"$1/d/file\"");
            assertTrue(written.output().contains("Read-only file system"), written::output);
            assertEquals(
                    Status.Code.OK,
                    Outcome.of(() -> node.client()
                                    .node()
                                    .nodeGetVolumeStats(NodeGetVolumeStatsRequest.newBuilder()
                                            .setVolumeId(shallow.getVolumeId())
                                            .setVolumePath(mounted.toString())
                                            .build()))
                            .code());
        }
        delete(shallow);
        var _ = controller().controller().deleteSnapshot(Requests.deleteSnapshot(snapshot.getSnapshotId()));
        delete(volume);
    }

    @Test
    void aFullVolumeGrowsUnderItsWriter() {
        Volume volume = create("grows", 16 * Requests.MIB);
        Path mounted = one().mount(volume, Requests.shared());
        String append = "dd if=/dev/zero of=\"$1/full\" bs=1M count=8 oflag=append conv=notrunc,fsync";
        Await.until(
                "a write over quota is refused",
                Duration.ofMinutes(1),
                () -> one().guest().as(U1, mounted, append).output().contains("quota exceeded"));
        var _ = controller()
                .controller()
                .controllerExpandVolume(ControllerExpandVolumeRequest.newBuilder()
                        .setVolumeId(volume.getVolumeId())
                        .setCapacityRange(CapacityRange.newBuilder().setRequiredBytes(256 * Requests.MIB))
                        .setVolumeCapability(Requests.shared())
                        .build());
        Await.until(
                "the writer goes on",
                Duration.ofMinutes(1),
                () -> one().guest().as(U1, mounted, append).exit() == 0);
        long capacity = one().client()
                .node()
                .nodeExpandVolume(NodeExpandVolumeRequest.newBuilder()
                        .setVolumeId(volume.getVolumeId())
                        .setVolumePath(mounted.toString())
                        .build())
                .getCapacityBytes();
        assertEquals(256 * Requests.MIB, capacity);
        delete(volume);
    }

    @Test
    void aNodeCutFromTheNetworkAnswersInTimeAndGoesOnOrFails() {
        Volume volume = create("cut", Requests.GIB);
        Path here = one().mount(volume, Requests.shared());
        Path there = two().mount(volume, Requests.shared());
        said(one().guest().as(U1, here, "echo kept >\"$1/kept\"; sync \"$1/kept\""));
        NodeGetVolumeStatsRequest look = NodeGetVolumeStatsRequest.newBuilder()
                .setVolumeId(volume.getVolumeId())
                .setVolumePath(here.toString())
                .build();
        one().guest().unplug();
        try {
            long end = System.nanoTime() + CUT.toNanos();
            while (System.nanoTime() < end) {
                Outcome<?> outcome = Outcome.of(() ->
                        one().client().within(Duration.ofSeconds(10)).node().nodeGetVolumeStats(look));
                assertEquals(Status.Code.UNAVAILABLE, outcome.code(), outcome::message);
                Await.pass(Duration.ofSeconds(5));
            }
            assertEquals("kept", said(two().guest().as(U1, there, "cat \"$1/kept\"")));
        } finally {
            one().guest().plug();
        }
        Await.until("a write goes on or fails", BACK, () -> {
            Command.Result result = one().guest()
                    .as(U1, here, "timeout -s KILL 15 sh -c 'echo back >\"$1/back\"; sync \"$1/back\"' sh \"$1\"");
            return result.exit() == 0 || !result.output().isEmpty();
        });
        assertEquals("kept", said(two().guest().as(U1, there, "cat \"$1/kept\"")));
        delete(volume);
    }
}
