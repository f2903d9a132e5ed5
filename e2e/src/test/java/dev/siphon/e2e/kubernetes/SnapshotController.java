package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.LabDaemon;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/// Snapshots, which a cluster's administrator adds: the custom resources, and the controller that all drivers
/// share.
final class SnapshotController {
    private static final String NAME = "snapshot-controller";
    private static final String GROUP = "snapshot.storage.k8s.io";

    private SnapshotController() {}

    /// Adds both and switches to the chart with snapshots, unless already done.
    static void addTo(Installation siphon, Cluster cluster) {
        if (Files.exists(cluster.lab().run().resolve("daemon").resolve(NAME))) {
            return;
        }
        define(cluster);
        var _ = LabDaemon.of(
                        NAME,
                        List.of(
                                Chart.program(NAME).toString(),
                                "--kubeconfig=" + Path.of(Objects.requireNonNull(System.getenv("KUBECONFIG")))))
                .start();
        // the directory of sealed snapshots
        try (CephTree tree = CephTree.mount(cluster.lab())) {
            var _ = Files.createDirectories(tree.at("/datasets"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        siphon.folder()
                .useChart(
                        "--set",
                        "snapshots=true,groupSnapshots=true",
                        "--set-string",
                        "volumeAttributesClasses.group-reads.mode=0750");
        siphon.apply();
    }

    private static void define(Cluster cluster) {
        var _ = cluster.kubectl(
                "apply", "--server-side", "-f", Chart.snapshotDefinitions().toString());
        for (String each : List.of("classes", "contents", "s")) {
            cluster.awaitEstablished("volumesnapshot" + each + "." + GROUP);
            cluster.awaitEstablished("volumegroupsnapshot" + each + ".group" + GROUP);
        }
    }

    /// Adds both to a Kubernetes that started empty again.
    static void addAgain(Cluster cluster) {
        define(cluster);
        LabDaemon daemon = new LabDaemon(NAME);
        if (daemon.runs()) {
            daemon.kill();
        }
        var _ = daemon.start();
    }

    /// Waits until a snapshot is ready to use.
    static void awaitReady(Tenant tenant, String snapshot) {
        awaitReady(tenant, Cluster.PATIENCE, snapshot);
    }

    /// Does the same for one that takes long to seal.
    static void awaitReady(Tenant tenant, Duration atMost, String snapshot) {
        awaitReady(tenant, atMost, GROUP + "/v1", "VolumeSnapshot", snapshot);
    }

    /// Waits until a group snapshot is ready to use.
    static void awaitGroupReady(Tenant tenant, String group) {
        awaitReady(tenant, Cluster.PATIENCE, "group" + GROUP + "/v1", "VolumeGroupSnapshot", group);
    }

    private static void awaitReady(Tenant tenant, Duration atMost, String version, String kind, String snapshot) {
        var _ = tenant.cluster()
                .await(
                        kind + " " + snapshot + " is ready",
                        atMost,
                        tenant.cluster()
                                .client()
                                .genericKubernetesResources(version, kind)
                                .inNamespace(tenant.namespace())
                                .withName(snapshot),
                        each -> each != null && Boolean.TRUE.equals(each.<Boolean>get("status", "readyToUse")));
    }
}
