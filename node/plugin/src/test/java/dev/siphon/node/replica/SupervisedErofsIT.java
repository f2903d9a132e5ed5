package dev.siphon.node.replica;

import static dev.siphon.node.replica.ReplicaNode.FAST;
import static dev.siphon.node.replica.ReplicaNode.awaitNoDevice;
import static dev.siphon.node.replica.ReplicaNode.settings;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.node.FuseProcess;
import dev.siphon.node.fuse.FuseProgram;
import dev.siphon.node.fuse.rpc.SupervisedFuse;
import dev.siphon.node.linux.Workplace;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// A tree whose process runs under the supervisor.
class SupervisedErofsIT {
    @Test
    void aTreeIsReadByAProcessOfTheSupervisorAndLeavesNothing() {
        try (Workplace workplace = Workplace.create()) {
            TestDataset dataset = TestDataset.create(workplace, "one", 60, 100_000);
            ImageMountKey key = ImageMountKey.anywhere(dataset.digest());
            try (FuseProcess supervisor = FuseProcess.start(workplace.directory("fuse"), Optional.empty())) {
                ErofsSelection erofs =
                        new ErofsSelection(() -> false, () -> true, new SupervisedFuse(supervisor.endpoint()));
                try (Replicas replicas = Replicas.start(
                        ReplicaNode.with(erofs, settings(workplace, FAST)), new BackgroundTasks(), _ -> {})) {
                    Path tree = replicas.attach(dataset.image()).tree();
                    ProcessHandle process =
                            FuseProgram.EROFSFUSE.process(key.tag()).orElseThrow();
                    assertEquals(
                            supervisor.pid(), process.parent().orElseThrow().pid());
                    assertTrue(dataset.isRight(tree));
                    replicas.detach(key);
                    assertEquals(Optional.empty(), FuseProgram.EROFSFUSE.process(key.tag()));
                    assertEquals(List.of(), workplace.mounts());
                }
            }
            awaitNoDevice(dataset.digest());
        }
    }
}
