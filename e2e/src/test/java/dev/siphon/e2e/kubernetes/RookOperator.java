package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/// Rook's operator as a process of the lab. It treats the lab's Ceph as an external cluster with the
/// administrator's key: it creates identities and Secrets for its CSI drivers, and maintains the ConfigMap of the
/// monitors.
final class RookOperator implements AutoCloseable {
    static final String NAMESPACE = "rook-ceph";
    private static final String DAEMON = "rook";

    /// The operator's own pod and service account, which it looks up.
    private static final String POD = """
            apiVersion: v1
            kind: ServiceAccount
            metadata: {name: rook-ceph-system, namespace: rook-ceph}
            ---
            apiVersion: rbac.authorization.k8s.io/v1
            kind: ClusterRoleBinding
            metadata: {name: rook-ceph-system}
            roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
            subjects: [{kind: ServiceAccount, name: rook-ceph-system, namespace: rook-ceph}]
            ---
            apiVersion: v1
            kind: Pod
            metadata: {name: rook-ceph-operator, namespace: rook-ceph, labels: {app: rook-ceph-operator}}
            spec:
              terminationGracePeriodSeconds: 0
              serviceAccountName: rook-ceph-system
              containers:
                - {name: rook-ceph-operator, image: 'siphon.test/pause:1', imagePullPolicy: Never, command: [sleep, infinity]}
            """;

    private static final String CLUSTER = """
            apiVersion: ceph.rook.io/v1
            kind: CephCluster
            metadata: {name: rook-ceph, namespace: rook-ceph}
            spec:
              external: {enable: true}
              crashCollector: {disable: true}
              monitoring: {enabled: false, metricsDisabled: true}
              healthCheck: {daemonHealth: {mon: {disabled: false, interval: 5s}}}
            """;

    private final Cluster cluster;
    private final Path folder;

    private RookOperator(Cluster cluster) {
        this.cluster = cluster;
        this.folder = cluster.lab().run().resolve(DAEMON);
    }

    /// Starts Rook and waits until it is connected and has created its Secret.
    ///
    /// @param endpoints the monitors, as `NAME=ADDRESS:PORT`, separated by commas
    static RookOperator start(Cluster cluster, String endpoints) {
        RookOperator rook = new RookOperator(cluster);
        var _ = cluster.kubectl(
                "apply", "--server-side", "-f", rook.folder.resolve("crds.yaml").toString());
        cluster.awaitEstablished("cephclusters.ceph.rook.io");
        rook.importCluster(endpoints);
        rook.apply("pod.yaml", POD);
        rook.run();
        rook.apply("cluster.yaml", CLUSTER);
        var _ = cluster.kubectl(
                "-n",
                NAMESPACE,
                "wait",
                "--for=jsonpath={.status.phase}=Connected",
                "--timeout=110s",
                "cephcluster/rook-ceph");
        var _ = cluster.await(
                "Rook's driver has its Secret",
                cluster.client().secrets().inNamespace(NAMESPACE).withName("rook-csi-cephfs-node"),
                Objects::nonNull);
        return rook;
    }

    /// Runs Rook's own import script.
    private void importCluster(String endpoints) {
        write("kubectl", "#!/bin/sh\nexec " + Project.folder().resolve("e2e/lab") + " kubectl \"$@\"\n");
        Map<String, String> environment = Map.of(
                "PATH",
                folder + ":" + System.getenv("PATH"),
                "NAMESPACE",
                NAMESPACE,
                "ROOK_EXTERNAL_FSID",
                cluster.ceph("fsid").strip(),
                "ROOK_EXTERNAL_CEPH_MON_DATA",
                endpoints,
                "ROOK_EXTERNAL_USERNAME",
                "client.admin",
                "ROOK_EXTERNAL_USER_SECRET",
                cluster.ceph("auth", "print-key", "client.admin").strip());
        String assignments = environment.entrySet().stream()
                .map(each -> "export " + each.getKey() + "='" + each.getValue() + "'\n")
                .collect(Collectors.joining());
        Path script = write("import", assignments + ". \"$1\"\n");
        var _ = Command.run(
                Cluster.PATIENCE,
                List.of(
                        "bash",
                        script.toString(),
                        folder.resolve("import-external-cluster.sh").toString()));
    }

    private void apply(String name, String manifest) {
        var _ = cluster.kubectl("apply", "-f", write(name, manifest).toString());
    }

    /// Runs it in its own mount namespace, because it needs a pod's files and writes Ceph's configuration to the
    /// system's place.
    private void run() {
        String token = cluster.kubectl("-n", NAMESPACE, "create", "token", "rook-ceph-system", "--duration=24h");
        Path account = write("token", token.strip());
        write("start", """
                mount --make-rprivate /
                mkdir -p /run/secrets /etc/ceph /var/lib/rook
                for each in /run/secrets /etc/ceph /var/lib/rook; do mount -t tmpfs -o mode=0700 rook $each; done
                mkdir -p /run/secrets/kubernetes.io/serviceaccount
                cp %1$s /run/secrets/kubernetes.io/serviceaccount/token
                cp %2$s /run/secrets/kubernetes.io/serviceaccount/ca.crt
                export KUBERNETES_SERVICE_HOST=10.96.0.1 KUBERNETES_SERVICE_PORT=443
                export POD_NAME=rook-ceph-operator POD_NAMESPACE=%3$s
                export ROOK_CSI_ENABLE_CEPHFS=false ROOK_CSI_ENABLE_RBD=false ROOK_ENABLE_DISCOVERY_DAEMON=false
                unset CEPH_CONF CEPH_KEYRING
                exec %4$s ceph operator
                """.formatted(
                account, cluster.lab().run().resolve("kubernetes/pki/ca.crt"), NAMESPACE, folder.resolve("rook")));
        Path daemon = cluster.lab().run().resolve("daemon").resolve(DAEMON);
        writeTo(daemon, "#!/bin/sh\nexec unshare --mount bash -euo pipefail " + folder.resolve("start") + "\n");
        daemon("start");
    }

    /// Returns Rook's ConfigMap of monitors.
    Resource<ConfigMap> monitors() {
        return cluster.client().configMaps().inNamespace(NAMESPACE).withName("rook-ceph-mon-endpoints");
    }

    private void daemon(String... verb) {
        List<String> words = new ArrayList<>(
                List.of(Project.folder().resolve("e2e/lab.d/daemon").toString()));
        words.addAll(List.of(verb));
        words.add(DAEMON);
        var _ = Command.run(words.toArray(String[]::new));
    }

    /// Stops Rook and removes what it created.
    @Override
    public void close() {
        daemon("sig", "TERM");
        for (String kind : List.of("cephclusters.ceph.rook.io", "configmaps", "secrets")) {
            String names = cluster.kubectl("-n", NAMESPACE, "get", kind, "-o", "name");
            names.lines()
                    .forEach(each -> cluster.tryKubectl(
                            "-n",
                            NAMESPACE,
                            "patch",
                            each,
                            "--type=merge",
                            "-p",
                            "{\"metadata\":{\"finalizers\":null}}"));
        }
        var _ = cluster.kubectl("delete", "clusterrolebinding", "rook-ceph-system");
        var _ = cluster.kubectl("delete", "namespace", NAMESPACE, "--timeout=100s");
        var _ = cluster.kubectl(
                "delete", "-f", folder.resolve("crds.yaml").toString(), "--wait=false", "--ignore-not-found");
        cluster.cephIdentities()
                .filter(each -> each.startsWith("client.csi-"))
                .toList()
                .forEach(each -> cluster.ceph("auth", "rm", each));
    }

    private Path write(String name, String text) {
        return writeTo(folder.resolve(name), text);
    }

    /// Readable by root only, because some files hold keys.
    private static Path writeTo(Path file, String text) {
        try {
            Files.deleteIfExists(file);
            Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            return Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
