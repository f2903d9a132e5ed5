package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.Workplace;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Memory limits of FUSE processes, and which process is killed: in the lab with the machine's version of control
/// groups, in a guest with version 2.
class FuseMemoryIT {
    private static final int MIB = 1 << 20;

    private static final int MUCH_MIB = 400;

    private final Workplace workplace = Workplace.create();
    private final ContainerGroup container = ContainerGroup.create();

    @SuppressWarnings("NullAway.Init")
    private FuseProcess supervisor;

    @SuppressWarnings("NullAway.Init")
    private NodeProcess node;

    private Path staging = Path.of("/");
    private Path target = Path.of("/");

    @BeforeEach
    void makePaths() {
        staging = workplace.directory("staging");
        workplace.directory("pod");
        target = workplace.path("pod/target");
    }

    private void start(String... memory) {
        supervisor = FuseProcess.start(workplace.directory("fuse"), Optional.of(container.path()), memory);
        node = NodeProcess.start(
                workplace.directory("node"),
                "--mounter=fuse",
                "--fuse-socket=" + supervisor.endpoint().path());
    }

    @AfterEach
    void leaveNothing() {
        node.close();
        workplace.mounts().forEach(point -> Programs.run("umount", "--lazy", point));
        supervisor.close();
        container.close();
        workplace.close();
    }

    private long limited() {
        return container.groups().stream()
                .filter(each -> each.startsWith("siphon-ceph-fuse-"))
                .count();
    }

    private static void writeMuch(Path directory) throws IOException {
        byte[] piece = new byte[MIB];
        try (OutputStream out = Files.newOutputStream(directory.resolve("much"))) {
            for (int i = 0; i < MUCH_MIB; i++) {
                out.write(piece);
            }
        }
    }

    @Test
    void aProcessAtItsMemoryLimitEndsAloneAndPodsAfterItHaveTheVolume() throws IOException {
        // less than the cache size that the node allows each process
        start("--process-memory=96Mi");
        String group = Lab.createGroup(1024L * MIB);
        Lab.Volume volume = Lab.createVolume(group, 512L * MIB);
        Lab.Volume other = Lab.createVolume(group, 64L * MIB);
        Path otherTarget = workplace.path("pod/other");
        node.stageAndPublish(volume, staging, target);
        node.stageAndPublish(other, workplace.directory("other"), otherTarget);
        assertEquals(2, limited());
        try (Ticking neighbour = new Ticking(otherTarget)) {
            assertThrows(IOException.class, () -> writeMuch(target));
            neighbour.goesOn();
            OpsPages.await(() -> supervisor.log().contains("ended at its memory limit of 96 MiB"));
            assertEquals(1, limited());
            assertNotEquals("[]", node.health(volume), "the node says that the mount is dead");

            // Ceph would wait a minute
            Lab.ceph(
                    "tell",
                    "mds." + Lab.fileSystem() + ":0",
                    "client",
                    "evict",
                    "client_metadata.volume_id=" + volume.id());
            node.unpublishAndUnstage(volume, staging, target);
            node.stageAndPublish(volume, staging, target);
            Files.writeString(target.resolve("after"), "healed");
            assertEquals("healed", Files.readString(target.resolve("after")));
            assertEquals("[]", node.health(volume));
            neighbour.goesOn();
        }
        node.unpublishAndUnstage(volume, staging, target);
        node.unpublishAndUnstage(other, workplace.path("other"), otherTarget);
    }

    /// A staged and published volume.
    private record Used(Lab.Volume volume, Path staging, Path target) {}

    private Used use(Lab.Volume volume, String name) {
        Used used = new Used(volume, workplace.directory("staging-" + name), workplace.path("pod/" + name));
        node.stageAndPublish(volume, used.staging(), used.target());
        return used;
    }

    private static Optional<IOException> failureToWriteMuch(Path directory) {
        try {
            writeMuch(directory);
            return Optional.empty();
        } catch (IOException e) {
            return Optional.of(e);
        }
    }

    private boolean hasEnded(Used used) {
        return !node.health(used.volume()).equals("[]");
    }

    /// A process that has written much holds about 200 MiB: two exceed the total, each stays below its own limit.
    @Test
    void whereAllTogetherHaveTooMuchTheLargestOfTheAccountWithTheMostEnds() throws IOException {
        start("--process-memory=320Mi", "--total-memory=320Mi");
        String account = Lab.createGroup(2048L * MIB);
        Used first = use(Lab.createVolume(account, 512L * MIB), "first");
        Used second = use(Lab.createVolume(account, 512L * MIB), "second");
        Used other = use(Lab.createVolume(Lab.createGroup(64L * MIB), 64L * MIB), "other");
        try (Ticking neighbour = new Ticking(other.target());
                OpsPages pages = new OpsPages(supervisor)) {
            writeMuch(first.target());
            double held = Double.parseDouble(pages.metric("siphon_fuse_memory_bytes{program=\"ceph-fuse\"}"));
            assertTrue(held > 128 * MIB && held < 320 * MIB, () -> "they hold " + held);
            assertEquals("[]", node.health(first.volume()));
            Optional<IOException> failure = failureToWriteMuch(second.target());
            OpsPages.await(() -> supervisor.log().contains("account " + account + " used the most"));
            neighbour.goesOn();

            // either may be the largest, and the second may end after its last write
            OpsPages.await(() -> hasEnded(first) || hasEnded(second));
            assertNotEquals(hasEnded(first), hasEnded(second));
            failure.ifPresent(error -> assertTrue(hasEnded(second), error::toString));
            assertEquals("[]", node.health(other.volume()));
            assertEquals("1.0", pages.metric("siphon_fuse_ends_total{end=\"total_memory\",program=\"ceph-fuse\"}"));
            assertEquals("2.0", pages.metric("siphon_fuse_processes{program=\"ceph-fuse\"}"));
        }
        for (Used used : List.of(first, second, other)) {
            node.unpublishAndUnstage(used.volume(), used.staging(), used.target());
        }
    }
}
