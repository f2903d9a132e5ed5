package dev.siphon.node;

import static dev.siphon.node.Refusals.refused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.node.kubernetes.FakeApi;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.Workplace;
import io.grpc.Status.Code;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Datasets on nodes whose kernel lacks a module for reading them, in a guest of the lab, over the kernel's CephFS.
/// [DatasetVolumeIT] checks that nodes with all modules report nothing.
@Tag("kernel")
class NoErofsIT {
    private static Optional<SealedDataset> made = Optional.empty();

    private final Workplace workplace = Workplace.create();
    private final FakeApi api = FakeApi.start();
    private final SealedDataset sealed = made.orElseThrow();
    private final Lab.Volume dataset = sealed.volume();
    private final Path cache = workplace.directory("cache");
    private final Path staging = workplace.directory("staging");
    private final Path target = workplace.directory("pod").resolve("target");

    @BeforeAll
    static void seal() throws IOException {
        made = Optional.of(SealedDataset.create(12));
    }

    @AfterEach
    void leaveNothing() {
        api.close();
        workplace.close();
    }

    private NodeProcess start() {
        api.publish(sealed.readBy("vision"));
        return NodeProcess.start(
                workplace.directory("node"),
                "--cache-dir=" + cache + "=1Gi",
                "--kubernetes-namespace=" + FakeApi.NAMESPACE,
                "--kubeconfig=" + api.kubeconfig(workplace.directory("config")));
    }

    private void stage(NodeProcess node) {
        var _ = node.stub().nodeStageVolume(Requests.stage(dataset, staging, Mode.MULTI_NODE_READER_ONLY));
    }

    private void publish(NodeProcess node) {
        var _ = node.stub()
                .nodePublishVolume(
                        Requests.publishForPod(dataset, staging, target, Mode.MULTI_NODE_READER_ONLY, "vision"));
    }

    private static String type(Path tree) {
        return MountTable.read().at(tree.toString()).orElseThrow().type();
    }

    private static ProcessHandle process() {
        return ProcessHandle.allProcesses()
                .filter(process -> process.info()
                        .command()
                        .filter(command -> command.endsWith("/erofsfuse"))
                        .isPresent())
                .findFirst()
                .orElseThrow();
    }

    private static void kill(ProcessHandle process) {
        assertTrue(process.destroyForcibly());
        process.onExit().orTimeout(10, TimeUnit.SECONDS).join();
    }

    @Test
    void withoutErofsAProcessReadsAndThePodIsTold() throws IOException {
        try (GuestModules _ = GuestModules.without(workplace, "erofs", "*erofs*");
                NodeProcess node = start();
                OpsPages pages = new OpsPages(node)) {
            stage(node);
            publish(node);
            assertTrue(type(target).startsWith("fuseblk.siphon:"), type(target));
            sealed.assertWhole(target);
            OpsPages.await(() -> !api.events().isEmpty());
            assertEquals("DatasetSlow", api.events().getFirst().get("reason").getAsString());
            String told = api.events().getFirst().get("message").getAsString();
            assertTrue(told.contains("erofsfuse") && told.contains("modprobe erofs"), told);
            OpsPages.await(() -> sealed.isReadFrom(cache));
            assertTrue(sealed.devices().getFirst().directIo());
            sealed.assertWhole(target);
            assertEquals("1.0", pages.metric("siphon_dataset_trees{reader=\"erofsfuse\"}"));
            assertTrue(node.stub()
                            .nodeGetVolumeStats(Requests.stats(dataset, target))
                            .getUsage(0)
                            .getTotal()
                    > 0);
            kill(process());
            refused(Code.UNAVAILABLE, () -> node.stub().nodeGetVolumeStats(Requests.stats(dataset, target)));
            assertThrows(IOException.class, () -> sealed.assertWhole(target));
            // as the kubelet does for the next pod
            stage(node);
            publish(node);
            sealed.assertWhole(target);
            node.unpublishAndUnstage(dataset, staging, target);
            OpsPages.await(() -> sealed.devices().isEmpty());
            assertEquals(List.of(), workplace.mounts());
            assertEquals(List.of(), Lab.clientsOf(dataset.id()));
        }
    }

    @Test
    void withoutLoopDevicesTheRemedyIsSaid() {
        try (GuestModules _ = GuestModules.without(workplace, "loop", "*loop*|*char-major-10-237*|*block-major-7-*");
                NodeProcess node = start()) {
            String said = refused(
                    Code.UNIMPLEMENTED,
                    () -> node.stub().nodeStageVolume(Requests.stage(dataset, staging, Mode.MULTI_NODE_READER_ONLY)));
            assertTrue(said.contains("modprobe loop") && said.contains("CONFIG_BLK_DEV_LOOP"), said);
            assertEquals(List.of(), workplace.mounts());
        }
    }
}
