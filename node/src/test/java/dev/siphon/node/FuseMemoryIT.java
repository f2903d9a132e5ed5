package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What one FUSE process takes, and who ends for it: in the lab with control groups of the version that
/// the machine has, in a guest with version 2.
class FuseMemoryIT {
    private static final int MIB = 1 << 20;

    /// Of each FUSE process: less than the node lets it cache.
    private static final String MEMORY = "--process-memory=96Mi";

    private static final int MUCH_MIB = 400;

    private final Workplace workplace = Workplace.create();
    private final ContainerGroup container = ContainerGroup.create();
    private final FuseProcess supervisor =
            FuseProcess.start(workplace.directory("fuse"), Optional.of(container.path()), MEMORY);
    private final NodeProcess node = NodeProcess.start(
            workplace.directory("node"),
            "--mounter=fuse",
            "--fuse-socket=" + supervisor.endpoint().path());
    private Path staging = Path.of("/");
    private Path target = Path.of("/");

    @BeforeEach
    void makePaths() {
        staging = workplace.directory("staging");
        workplace.directory("pod");
        target = workplace.path("pod/target");
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

    private void writeMuch() throws IOException {
        byte[] piece = new byte[MIB];
        try (OutputStream out = Files.newOutputStream(target.resolve("much"))) {
            for (int i = 0; i < MUCH_MIB; i++) {
                out.write(piece);
            }
        }
    }

    @Test
    void aProcessAtItsMemoryLimitEndsAloneAndPodsAfterItHaveTheVolume() throws IOException {
        String group = Lab.createGroup(1024L * MIB);
        Lab.Volume volume = Lab.createVolume(group, 512L * MIB);
        Lab.Volume other = Lab.createVolume(group, 64L * MIB);
        Path otherTarget = workplace.path("pod/other");
        node.stageAndPublish(volume, staging, target);
        node.stageAndPublish(other, workplace.directory("other"), otherTarget);
        assertEquals(2, limited());
        try (Ticking neighbour = new Ticking(otherTarget)) {
            assertThrows(IOException.class, this::writeMuch);
            neighbour.goesOn();
            OpsPages.await(() -> supervisor.log().contains("ended at its memory limit of 96 MiB"));
            assertEquals(1, limited());
            assertNotEquals("[]", node.health(volume), "the node says that the mount is dead");

            // Ceph would wait a minute for it
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
}
