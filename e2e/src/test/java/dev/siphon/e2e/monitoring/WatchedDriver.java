package dev.siphon.e2e.monitoring;

import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.Volume;
import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.LabLdap;
import dev.siphon.e2e.lab.Project;
import io.grpc.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// A controller with accounts from the lab's OpenLDAP, a node with a disk, a dataset, and a Prometheus that watches
/// them.
final class WatchedDriver implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final DriverFolder folder = DriverFolder.create();
    private final WatchedDataset dataset = new WatchedDataset(folder.file("dataset"));
    private final Disk disk = Disk.at(folder.file("nvme0"));
    private final int nodePort = DriverFolder.freePort();
    private final int controllerPort = DriverFolder.freePort();
    private ServedProcess controllerProcess;
    private ServedProcess nodeProcess;
    private final CsiClient controller;
    private final CsiClient node;
    private final Prometheus prometheus;

    WatchedDriver(AlertRules rules) {
        this.controllerProcess = startController().awaitReady();
        this.nodeProcess = startNode().awaitReady();
        this.controller = CsiClient.to(controllerProcess.endpoint());
        this.node = CsiClient.to(nodeProcess.endpoint());
        this.prometheus = Prometheus.start(
                folder.file("prometheus"),
                Map.of("siphon-controllers", controllerProcess.opsAddress(), "siphon-nodes", nodeProcess.opsAddress()),
                rules);
    }

    /// The controller compares quotas every two seconds; a [DriverFolder] usually does so each hour.
    private ServedProcess startController() {
        Path config = LabLdap.config(folder.file("directory.json"), "");
        List<String> flags = new ArrayList<>(List.of(dataset.controllerFlags()));
        flags.addAll(List.of(DriverFolder.RECONCILE + 2, "--directory-config=" + config));
        return start(
                "controller",
                "controller",
                controllerPort,
                folder.controllerFlags(controllerPort, flags.toArray(String[]::new)));
    }

    /// A controller that needs a Lease, of an API server that is away.
    private ServedProcess startStandby() {
        Path kubeconfig = folder.file("kubeconfig");
        try {
            Files.writeString(kubeconfig, """
                    clusters: [{name: away, cluster: {server: "https://127.0.0.1:%d"}}]
                    contexts: [{name: away, context: {cluster: away, user: siphon}}]
                    users: [{name: siphon, user: {token: none}}]
                    current-context: away
                    """.formatted(DriverFolder.freePort()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String[] flags = {"--kubernetes-namespace=siphon", "--kubeconfig=" + kubeconfig, "--lead-as=standby"};
        return start("controller", "controller", controllerPort, folder.controllerFlags(controllerPort, flags));
    }

    /// Replaces the controller by one that stands by.
    void leadNoLonger() {
        replaceController(this::startStandby);
    }

    /// Replaces the one that stands by.
    void leadAgain() {
        replaceController(this::startController);
    }

    private void replaceController(Supplier<ServedProcess> next) {
        controllerProcess.close();
        controllerProcess = next.get();
        controllerProcess.awaitReady();
    }

    private ServedProcess startNode() {
        return start("node", "node-a", nodePort, folder.nodeFlags("node-a", nodePort, disk.flags()));
    }

    private ServedProcess start(String subcommand, String name, int port, List<String> flags) {
        List<String> command = Stream.concat(Stream.of(Project.launcher().toString(), subcommand), flags.stream())
                .toList();
        return ServedProcess.start(command, folder.endpoint(name + ".sock"), port, folder.file(name + ".log"));
    }

    /// Ends the node process (SIGTERM), runs `meanwhile`, and starts it again on the same port.
    void restartNode(Runnable meanwhile) {
        nodeProcess.close();
        meanwhile.run();
        nodeProcess = startNode();
        nodeProcess.awaitReady();
    }

    ServedProcess controllerProcess() {
        return controllerProcess;
    }

    ServedProcess nodeProcess() {
        return nodeProcess;
    }

    CsiClient controller() {
        return controller;
    }

    CsiClient node() {
        return node;
    }

    Prometheus prometheus() {
        return prometheus;
    }

    Disk disk() {
        return disk;
    }

    /// A volume that a pod on the node uses. Closing unmounts and deletes it.
    final class UsedVolume implements AutoCloseable {
        private final Volume volume;
        private final NodeMounts mounts;
        private final Path root;

        private UsedVolume(CreateVolumeRequest request, Mode mode) {
            this.volume = create(request);
            this.mounts = new NodeMounts(node, folder.file("kubelet-" + request.getName()), adminSecrets());
            this.root = mounts.mount(volume, Requests.mount(mode));
        }

        String id() {
            return volume.getVolumeId();
        }

        /// Returns where the pod sees it.
        Path root() {
            return root;
        }

        @Override
        public void close() {
            mounts.close();
            controller.controller().deleteVolume(Requests.delete(volume.getVolumeId()));
        }
    }

    /// Retries as a provisioner does, while an earlier call for the account has not ended.
    private Volume create(CreateVolumeRequest request) {
        List<Outcome<CreateVolumeResponse>> last = new ArrayList<>();
        Await.until("volume " + request.getName(), LIMIT, () -> {
            last.addFirst(Outcome.of(() -> controller.controller().createVolume(request)));
            return last.getFirst().code() != Status.Code.ABORTED;
        });
        return last.getFirst().get().getVolume();
    }

    /// Creates a volume and mounts it for a pod.
    UsedVolume use(CreateVolumeRequest request) {
        return new UsedVolume(request, Mode.MULTI_NODE_MULTI_WRITER);
    }

    /// Mounts the dataset for a pod.
    UsedVolume useDataset(String claim) {
        return new UsedVolume(WatchedDataset.claim(claim), Mode.MULTI_NODE_READER_ONLY);
    }

    private static Map<String, String> adminSecrets() {
        try {
            String keyring = Files.readString(Lab.here().keyring());
            return Map.of("userID", "admin", "userKey", keyring.replaceAll("(?s).*?key = (\\S+).*", "$1"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try (folder;
                dataset;
                disk;
                ServedProcess _ = controllerProcess;
                ServedProcess _ = nodeProcess;
                controller;
                node) {
            prometheus.close();
        }
    }
}
