package dev.siphon.e2e.lifecycle;

import csi.v1.CreateVolumeRequest;
import csi.v1.Snapshot;
import csi.v1.Volume;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.NodeMounts;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.LabLdap;
import dev.siphon.e2e.lab.Project;
import io.grpc.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;

/// A controller, a node, and one test's volumes and snapshots. Closing removes them.
final class Setup implements AutoCloseable {
    private static final Duration RETRY_LIMIT = Duration.ofMinutes(2);

    private final DriverFolder folder;
    private ServedProcess controllerProcess;
    private final ServedProcess nodeProcess;
    private final CsiClient controller;
    private final CsiClient node;
    private final NodeMounts mounts;
    private final Deque<Runnable> undo = new ArrayDeque<>();

    private Setup(DriverFolder folder, ServedProcess controllerProcess, ServedProcess nodeProcess) {
        this.folder = folder;
        this.controllerProcess = controllerProcess;
        this.nodeProcess = nodeProcess;
        this.controller = CsiClient.to(controllerProcess.endpoint());
        this.node = CsiClient.to(nodeProcess.endpoint());
        this.mounts = new NodeMounts(node, folder.file("kubelet"), Lab.here().nodeStageSecrets());
    }

    /// Starts both processes.
    static Setup start(String... controllerFlags) {
        DriverFolder folder = DriverFolder.create();
        return new Setup(folder, folder.controller(controllerFlags), folder.node("node-a"));
    }

    /// Starts both processes with flags for each.
    static Setup start(List<String> controllerFlags, List<String> nodeFlags) {
        DriverFolder folder = DriverFolder.create();
        return new Setup(
                folder,
                folder.controller(controllerFlags.toArray(String[]::new)),
                folder.node("node-a", nodeFlags.toArray(String[]::new)));
    }

    /// Starts both processes, with accounts from the lab's OpenLDAP.
    ///
    /// @param more fields of the directory's configuration, with a comma before each
    static Setup startWithLdap(String more) {
        DriverFolder folder = DriverFolder.create();
        Path config = LabLdap.config(folder.file("directory.json"), more);
        return new Setup(folder, folder.controller("--directory-config=" + config), folder.node("node-a"));
    }

    CsiClient controller() {
        return controller;
    }

    CsiClient node() {
        return node;
    }

    NodeMounts mounts() {
        return mounts;
    }

    DriverFolder folder() {
        return folder;
    }

    ServedProcess controllerProcess() {
        return controllerProcess;
    }

    /// Runs `siphon` as an administrator would beside the controller.
    ///
    /// @param keys the controller's folder of keys
    Command.Result siphon(Path keys, String... words) {
        List<String> command = new ArrayList<>(List.of(Project.launcher().toString()));
        command.addAll(List.of(words));
        command.addAll(List.of(
                "--clusters=" + folder.file("clusters.json"),
                "--directory-passwd=" + folder.file("passwd"),
                "--directory-group=" + folder.file("group"),
                "--key-dir=" + keys,
                "--endpoint=unix://" + controllerProcess.endpoint().path()));
        return Command.attempt(command.toArray(String[]::new));
    }

    /// Stops the controller and starts another on the same socket; clients reconnect by themselves.
    void restartController(List<String> flags) {
        controllerProcess.close();
        controllerProcess = folder.controller(flags.toArray(String[]::new));
    }

    /// Creates a volume, waits for its contents, and deletes it at the end.
    Volume volume(CreateVolumeRequest request) {
        Volume made =
                patient(() -> controller.controller().createVolume(request)).getVolume();
        undo.push(() -> delete(made));
        return made;
    }

    /// Creates an empty volume of an account.
    Volume volume(String name, String owner, long bytes) {
        return volume(Requests.volume(name, owner, bytes));
    }

    void delete(Volume volume) {
        var _ = patient(() -> controller.controller().deleteVolume(Requests.delete(volume.getVolumeId())));
    }

    /// Creates a snapshot and deletes it at the end.
    Snapshot snapshot(String name, Volume of) {
        Snapshot made = patient(() -> controller.controller().createSnapshot(Requests.snapshot(name, of.getVolumeId())))
                .getSnapshot();
        undo.push(() -> delete(made));
        return made;
    }

    void delete(Snapshot snapshot) {
        var _ = patient(
                () -> controller.controller().deleteSnapshot(Requests.deleteSnapshot(snapshot.getSnapshotId())));
    }

    /// Runs `body` at the end, before anything created earlier is removed.
    void atEnd(Runnable body) {
        undo.push(body);
    }

    /// Retries a call on ABORTED, as a sidecar would, for at most 2 minutes.
    static <T> T patient(Supplier<T> call) {
        long end = System.nanoTime() + RETRY_LIMIT.toNanos();
        Outcome<T> outcome = Outcome.of(call);
        while (outcome.code() == Status.Code.ABORTED && System.nanoTime() < end) {
            Await.pass(Duration.ofMillis(200));
            outcome = Outcome.of(call);
        }
        return outcome.get();
    }

    @Override
    public void close() {
        try (folder;
                ServedProcess _ = controllerProcess;
                nodeProcess;
                controller;
                node) {
            mounts.close();
            while (!undo.isEmpty()) {
                undo.pop().run();
            }
        }
    }
}
