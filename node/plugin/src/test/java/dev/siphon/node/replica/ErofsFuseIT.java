package dev.siphon.node.replica;

import static dev.siphon.node.replica.ReplicaNode.FAST;
import static dev.siphon.node.replica.ReplicaNode.FUSE;
import static dev.siphon.node.replica.ReplicaNode.awaitLocal;
import static dev.siphon.node.replica.ReplicaNode.awaitNoDevice;
import static dev.siphon.node.replica.ReplicaNode.devices;
import static dev.siphon.node.replica.ReplicaNode.settings;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.fuse.FuseProgram;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.Workplace;
import dev.siphon.node.mount.MountedVolume;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Differences of a tree served by a process from one of the kernel: the process and its end.
class ErofsFuseIT {
    private final Workplace workplace = Workplace.create();
    private final TestDataset dataset = TestDataset.create(workplace, "one", 60, 100_000);
    private final ImageMountKey key = ImageMountKey.anywhere(dataset.digest());
    private final Path cache = workplace.path("cache");
    private Replicas replicas =
            Replicas.start(ReplicaNode.with(FUSE, settings(workplace, FAST)), new BackgroundTasks(), _ -> {});

    @AfterEach
    void close() {
        replicas.close();
        workplace.close();
        awaitNoDevice(dataset.digest());
    }

    private void restart() {
        replicas.close();
        replicas = Replicas.start(ReplicaNode.with(FUSE, settings(workplace, FAST)), new BackgroundTasks(), _ -> {});
    }

    private static MountEntry mounted(Path tree) {
        return MountTable.read().at(tree.toString()).orElseThrow();
    }

    private static void kill(Path tree) {
        ProcessHandle process = ErofsFuse.tag(mounted(tree))
                .flatMap(FuseProgram.EROFSFUSE::process)
                .orElseThrow();
        assertTrue(process.destroyForcibly());
        try {
            var _ = process.onExit().get(10, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new AssertionError(e);
        }
        ReplicaNode.await(() -> "a dead tree", () -> ErofsFuse.isDead(mounted(tree)));
    }

    @Test
    void theKernelHoldsTheDeviceAndTellsWhoseItIs() {
        Path tree = replicas.attach(dataset.image()).tree();
        MountEntry entry = mounted(tree);
        assertEquals("fuseblk." + key.tag(), entry.type());
        assertEquals(devices(dataset.digest()).getFirst().device(), entry.device());
        assertTrue(entry.superOptions().containsAll(List.of("allow_other", "default_permissions")));
        assertFalse(ErofsFuse.isDead(entry));
        replicas.detach(key);
        assertEquals(Optional.empty(), FuseProgram.EROFSFUSE.process(key.tag()));
        assertEquals(List.of(), devices(dataset.digest()));
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void aTreeWhoseProcessWasKilledIsMountedAnewUnderANewDevice() {
        Path tree = replicas.attach(dataset.image()).tree();
        awaitLocal(replicas, dataset.digest(), cache);
        Path volume = workplace.directory("volume");
        Programs.run("mount", "--bind", tree.toString(), volume.toString());
        kill(tree);
        assertThrows(IOException.class, () -> Files.readAllBytes(volume.resolve("file-1")));
        assertEquals(tree, replicas.attach(dataset.image()).tree());
        awaitLocal(replicas, dataset.digest(), cache);
        assertTrue(dataset.isRight(tree));
        // the running pod keeps the dead tree, which is still recognized
        assertEquals(2, devices(dataset.digest()).size());
        assertEquals(
                Optional.of(new MountedVolume.Sealed(dataset.digest().beginning())),
                new DatasetTrees(replicas, workplace.path("state"), false).recognize(mounted(volume)));
        // and uses no disk space
        replicas.evict(dataset.digest());
        assertFalse(Files.exists(cache.resolve(dataset.digest().hex())));
        assertTrue(dataset.isRight(tree));
        Programs.run("umount", volume.toString());
        ReplicaNode.await(() -> "one device", () -> devices(dataset.digest()).size() == 1);
        replicas.detach(key);
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void aTreeThatDiedWithItsNodeIsNoAttachmentOfTheNextRun() {
        Path tree = replicas.attach(dataset.image()).tree();
        kill(tree);
        restart();
        ReplicaNode.await(() -> "no mounts", () -> workplace.mounts().isEmpty());
        awaitNoDevice(dataset.digest());
        assertTrue(dataset.isRight(replicas.attach(dataset.image()).tree()));
        replicas.detach(key);
    }

    @Test
    void aTreeLivesOnWithoutItsNodeAndWhateverTheKernelHas() {
        Path tree = replicas.attach(dataset.image()).tree();
        replicas.close();
        replicas = Replicas.start(settings(workplace, FAST), new BackgroundTasks(), _ -> {});
        assertEquals(tree, replicas.attach(dataset.image()).tree());
        assertTrue(ErofsFuse.tag(mounted(tree)).isPresent());
        awaitLocal(replicas, dataset.digest(), cache);
        assertTrue(dataset.isRight(tree));
        replicas.detach(key);
        assertEquals("erofs", mounted(replicas.attach(dataset.image()).tree()).type());
        replicas.detach(key);
    }

    @Test
    void anImageThatIsNoneIsRefusedAndLeavesNothing() throws IOException {
        byte[] zeros = new byte[1 << 20];
        Manifest manifest = new Manifest(zeros.length, 1, List.of(Digest.of(ByteBuffer.wrap(zeros))));
        DatasetImage image = new DatasetImage(
                manifest.root(),
                Files.write(workplace.path("zeros"), zeros),
                Files.writeString(workplace.path("zeros.manifest"), manifest.text()));
        DriverException.BackendFault said =
                assertThrows(DriverException.BackendFault.class, () -> replicas.attach(image));
        assertTrue(String.valueOf(said.getMessage()).contains("erofs"), said.getMessage());
        awaitNoDevice(image.digest());
        assertEquals(List.of(), workplace.mounts());
    }
}
