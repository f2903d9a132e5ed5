package dev.siphon.e2e.trace;

import csi.v1.CreateVolumeRequest;
import csi.v1.Volume;
import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.e2e.bench.SampleDataset;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Lab;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// RPCs to a controller and a node, which run in the lab without Kubernetes. Closing ends both.
final class RpcTraces implements AutoCloseable {
    static final List<String> NAMES = List.of("CreateVolume", "CreateVolumeFromSnapshot", "NodePublishVolume");

    private static final VolumeCapability READERS = Requests.mount(Mode.MULTI_NODE_READER_ONLY);
    private static final int FILES_OF_DATASET = 100;
    private static final Duration FILL_LIMIT = Duration.ofSeconds(60);
    private static final String ON_REPLICA = "siphon_dataset_attachments{source=\"local\"} 1";

    private final DriverFolder folder = DriverFolder.create();
    private final AtomicInteger number = new AtomicInteger();
    private final Deque<Runnable> undo = new ArrayDeque<>();

    /// Returns the RPC of this name; starts the process that serves it.
    TracedCall of(String name) {
        return switch (name) {
            case "CreateVolume" -> createVolume(name);
            case "CreateVolumeFromSnapshot" -> createVolumeFromSnapshot(name);
            case "NodePublishVolume" -> publishDataset(name);
            default -> throw new IllegalArgumentException(name);
        };
    }

    private TracedCall createVolume(String name) {
        TracedProcess controller = controller();
        return new TracedCall(name, controller.agents(), () -> {}, () -> create(controller, volume()));
    }

    private TracedCall createVolumeFromSnapshot(String name) {
        TracedProcess controller = controller();
        String source = create(controller, volume()).getVolumeId();
        String snapshot = controller
                .client()
                .controller()
                .createSnapshot(Requests.snapshot("trace-snapshot", source))
                .getSnapshot()
                .getSnapshotId();
        return new TracedCall(
                name,
                controller.agents(),
                () -> {},
                () -> create(controller, Requests.fromSnapshot(volume(), snapshot)));
    }

    /// Publishes a dataset that has a replica on the node, for one more pod each time.
    private TracedCall publishDataset(String name) {
        Path cache = made(folder.file("cache"));
        Volume dataset = dataset();
        TracedProcess node = closed(TracedProcess.node(folder, "--cache-dir=" + cache + "=1Gi"));
        NodeMounts mounts =
                new NodeMounts(node.client(), folder.file("kubelet"), Lab.here().nodeStageSecrets());
        undo.push(mounts::close);
        mounts.stage(dataset, READERS).get();
        Await.until(
                "the dataset is read from its replica",
                FILL_LIMIT,
                () -> node.process().metrics().contains(ON_REPLICA));
        return new TracedCall(name, node.agents(), () -> {}, () -> {
            var _ = mounts.publish(dataset, READERS, "pod" + number.incrementAndGet())
                    .get();
        });
    }

    private Volume dataset() {
        try {
            return SampleDataset.make(
                            Lab.here(), made(folder.file("dataset")), SampleDataset.Shape.small(FILES_OF_DATASET))
                    .volume();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private TracedProcess controller() {
        return closed(TracedProcess.controller(folder));
    }

    private TracedProcess closed(TracedProcess process) {
        undo.push(process::close);
        return process;
    }

    private CreateVolumeRequest volume() {
        return Requests.volume("trace-" + number.incrementAndGet(), "u1", Requests.GIB);
    }

    private static Volume create(TracedProcess controller, CreateVolumeRequest request) {
        return controller.client().controller().createVolume(request).getVolume();
    }

    private static Path made(Path directory) {
        try {
            return Files.createDirectory(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Stops the process of the last RPC: the next one's has the same socket.
    void stop() {
        while (!undo.isEmpty()) {
            undo.pop().run();
        }
    }

    @Override
    public void close() {
        stop();
        folder.close();
    }
}
