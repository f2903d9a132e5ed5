package dev.siphon.node.replica;

import static dev.siphon.node.replica.ReplicaNode.FAST;
import static dev.siphon.node.replica.ReplicaNode.awaitLocal;
import static dev.siphon.node.replica.ReplicaNode.awaitNoDevice;
import static dev.siphon.node.replica.ReplicaNode.awaitStatus;
import static dev.siphon.node.replica.ReplicaNode.patient;
import static dev.siphon.node.replica.ReplicaNode.settings;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeout;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.node.fuse.FuseProgram;
import dev.siphon.node.linux.DataFile;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.LoopDevice;
import dev.siphon.node.linux.LoopStatus;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.Workplace;
import dev.siphon.node.mount.MountedVolume;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import jnr.constants.platform.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// CephFS hangs while datasets on it are attached and filled: the test stops its client.
@Tag("fuse")
class HungSourceIT {
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final Workplace workplace = Workplace.create();
    private final TestDataset hung = TestDataset.create(workplace, "source/hung", 40, 400_000);
    private final TestDataset other = TestDataset.create(workplace, "other", 40, 400_000);
    private final TestDataset late = TestDataset.create(workplace, "source/late", 1, 1000);
    private final Path mounted = workplace.directory("mounted");
    private final Path cluster = mounted.resolve("hung-" + UUID.randomUUID());
    private final Path cache = workplace.path("cache");
    private final Process fileSystem = start();
    private final Process resumer = resumer();

    private Process start() {
        try {
            return new ProcessBuilder(
                            "ceph-fuse",
                            "-f",
                            "-c",
                            variable("CEPH_CONF"),
                            "--keyring",
                            variable("CEPH_KEYRING"),
                            "-n",
                            "client.admin",
                            "--client_fs",
                            variable("FS_NAME"),
                            mounted.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /// Starts a process that later sends SIGCONT to the file system. It must start now: a process with an open file
    /// there cannot start another while the client is stopped. The kernel flushes the file when the child closes
    /// it.
    private Process resumer() {
        try {
            return new ProcessBuilder("sh", "-c", "read line; kill -CONT " + fileSystem.pid()).start();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private void resume() {
        try {
            resumer.getOutputStream().close();
            resumer.waitFor();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String variable(String name) {
        return Optional.ofNullable(System.getenv(name))
                .orElseThrow(() -> new IllegalStateException(name + " is not set: run in a lab"));
    }

    private void stop() {
        Programs.run("sh", "-c", "kill -STOP " + fileSystem.pid());
    }

    @BeforeEach
    void awaitMount() {
        ReplicaNode.await(() -> "a mount", () -> workplace.mounts().contains(mounted.toString()));
        Programs.run("cp", "-a", workplace.path("source").toString(), cluster.toString());
    }

    @AfterEach
    void close() {
        resume();
        Programs.run("rm", "-rf", cluster.toString());
        workplace.close();
        fileSystem.destroy();
        awaitNoDevice(hung.digest());
    }

    private DatasetImage through(String name, TestDataset dataset) {
        return dataset.below(cluster.resolve(name));
    }

    @Test
    void othersGoOnAndTheProcessEnds() {
        Path tree;
        try (Replicas replicas =
                Replicas.start(settings(workplace, patient(PATIENCE)), new BackgroundTasks(), _ -> {})) {
            replicas.attach(other.image());
            awaitLocal(replicas, other.digest(), cache);
            tree = replicas.attach(through("hung", hung)).tree();
            stop();
            awaitStatus(
                    replicas,
                    hung.digest(),
                    status -> status.flatMap(ReplicaStatus::problem).isPresent());
            assertThrows(DriverException.DeadlinePassed.class, () -> replicas.attach(through("late", late)));
            assertTimeout(Duration.ofSeconds(20), () -> tryOthers(replicas));
            assertTimeout(Duration.ofSeconds(10), replicas::close);
        }
        try (Replicas restarted =
                Replicas.start(settings(workplace, patient(PATIENCE)), new BackgroundTasks(), _ -> {})) {
            assertTimeout(Duration.ofSeconds(20), () -> tryOthers(restarted));
            resume();
            awaitLocal(restarted, hung.digest(), cache);
            assertTrue(hung.isRight(tree));
            restarted.detach(ImageMountKey.anywhere(hung.digest()));
            restarted.detach(ImageMountKey.anywhere(other.digest()));
            restarted.detach(ImageMountKey.anywhere(late.digest()));
        }
    }

    @Test
    void aDeviceWhoseFileSystemIsDeadIsPassedOverAndNotKept() throws InterruptedException {
        try (Replicas replicas =
                Replicas.start(settings(workplace, patient(PATIENCE)), new BackgroundTasks(), _ -> {})) {
            LoopStatus dead;
            try (DataFile image = DataFile.open(cluster.resolve("hung/image"));
                    LoopDevice device = LoopDevice.attach(image, "of another program")) {
                dead = device.status();
                Programs.run("rm", "-rf", cluster.toString());
                fileSystem.destroyForcibly().waitFor();
                assertEquals(
                        Errno.ENOTCONN,
                        assertThrows(ErrnoException.class, device::status).errno());
                tryOthers(replicas);
                assertFalse(LoopDevice.all(Set.of()).contains(dead));
                Programs.run("umount", "--lazy", mounted.toString());
            }
            Path state = Path.of("/sys/block/loop" + dead.number() + "/loop");
            ReplicaNode.await(() -> state + " gone", () -> !Files.exists(state));
            replicas.detach(ImageMountKey.anywhere(other.digest()));
        }
    }

    /// The node's container ends, and with it client and erofsfuse. A pod keeps showing the dead mounts.
    @Test
    void aTreeIsKnownAndMountedAnewAfterItsProcessAndItsImagesClientHaveEnded() throws InterruptedException {
        ReplicaSettings settings = ReplicaNode.with(ReplicaNode.FUSE, settings(workplace.path("state"), FAST));
        Path volume = workplace.directory("volume");
        Path tree;
        try (Replicas replicas = Replicas.start(settings, new BackgroundTasks(), _ -> {})) {
            tree = replicas.attach(through("hung", hung)).tree();
            Programs.run("mount", "--bind", tree.toString(), volume.toString());
        }
        Programs.run("rm", "-rf", cluster.toString());
        MountTable.read()
                .at(tree.toString())
                .flatMap(ErofsFuse::tag)
                .flatMap(FuseProgram.EROFSFUSE::process)
                .orElseThrow()
                .destroyForcibly();
        fileSystem.destroyForcibly().waitFor();
        Programs.run("umount", "--lazy", mounted.toString());
        try (Replicas restarted = Replicas.start(settings, new BackgroundTasks(), _ -> {})) {
            // only from the mount table: the device no longer responds
            MountEntry shown = MountTable.read().at(volume.toString()).orElseThrow();
            assertEquals(
                    Optional.of(new MountedVolume.Sealed(hung.digest().beginning())),
                    new DatasetTrees(restarted, settings.state(), false).recognize(shown));
            assertEquals(tree, restarted.attach(hung.image()).tree());
            assertTrue(hung.isRight(tree));
            Programs.run("umount", volume.toString());
            restarted.detach(ImageMountKey.anywhere(hung.digest()));
        }
    }

    private void tryOthers(Replicas replicas) {
        Path tree = replicas.attach(other.image()).tree();
        assertTrue(other.isRight(tree));
        replicas.evict(other.digest());
        replicas.warm(other.image());
        awaitLocal(replicas, other.digest(), cache);
        replicas.detach(ImageMountKey.anywhere(other.digest()));
        replicas.attach(other.image());
    }
}
