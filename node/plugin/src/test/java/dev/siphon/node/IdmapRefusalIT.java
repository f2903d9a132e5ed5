package dev.siphon.node;

import static dev.siphon.node.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.node.linux.Workplace;
import io.grpc.Status.Code;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Publishing refuses what ceph-fuse cannot map, against a real Ceph.
@Tag("fuse")
class IdmapRefusalIT {
    private static final long MIB = 1 << 20;

    @Test
    void cephFuseIsNotIdmappedAndTheRefusalSaysWhatToDo() throws IOException {
        Lab.Volume volume = Lab.createVolume(Lab.createGroup(64 * MIB), 32 * MIB, 10_001, 10_501);
        try (Workplace workplace = Workplace.create();
                NodeProcess node = NodeProcess.start(workplace.directory("node"))) {
            Path staging = workplace.directory("staging");
            Path target = workplace.directory("pod").resolve("target");
            node.stub().nodeStageVolume(Requests.stage(volume, staging));
            for (String user : List.of("root", "1000", "account")) {
                String said = refused(
                        Code.FAILED_PRECONDITION,
                        () -> node.stub()
                                .nodePublishVolume(
                                        Requests.publish(volume.with(Map.of("containerUser", user)), staging, target)));
                assertTrue(said.contains("fuse.ceph-fuse") && said.contains("mounter: kernel"), said);
                assertTrue(said.contains("runAsUser: 10001, runAsGroup: 10501"), said);
                assertFalse(Files.exists(target));
            }
            node.stub().nodePublishVolume(Requests.publish(volume, staging, target));
            Files.writeString(target.resolve("file"), "text");
            assertFalse(Files.exists(target.resolve(".siphon-idmap")));
            node.unpublishAndUnstage(volume, staging, target);
            assertEquals(List.of(), workplace.mounts());
        }
    }
}
