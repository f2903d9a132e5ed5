package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.ProcessesOfLab;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.readiness.Readiness;
import java.nio.file.Files;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Siphon as an administrator installs it in this lab's Kubernetes, by `kubectl apply -k` of a copy of `deploy/`.
final class Installation {
    /// The namespace of the installation.
    static final String NAMESPACE = "siphon";

    /// The driver's name.
    static final String DRIVER = "cephfs.siphon.dev";

    /// The gate at which pods wait until their dataset is on a disk of their node.
    static final String GATE = "siphon.dev/dataset";

    private static final String CONTROLLER = "siphon-controller";
    private static final String NODE = "siphon-node";
    private static final Object INSTALLING = new Object();

    private final Cluster cluster;
    private final DeployFolder folder;

    private Installation(Cluster cluster, DeployFolder folder) {
        this.cluster = cluster;
        this.folder = folder;
    }

    /// Installs Siphon unless it is installed. Classes may call this concurrently.
    static Installation in(Cluster cluster) {
        synchronized (INSTALLING) {
            DeployFolder folder = new DeployFolder(cluster);
            Installation made = new Installation(cluster, folder);
            if (cluster.client()
                            .apps()
                            .deployments()
                            .inNamespace(NAMESPACE)
                            .withName(CONTROLLER)
                            .get()
                    == null) {
                GpuMachine.make();
                GpuMachine.plug(cluster, GpuMachine.GPUS);
                if (!Files.exists(folder.path())) {
                    folder.write();
                }
                made.apply();
            }
            return made;
        }
    }

    /// Applies the folder's current content and waits until the rollout is complete.
    void apply() {
        var _ = cluster.kubectl("apply", "-k", folder.path().toString());
        rolledOut();
    }

    /// Waits until controllers and nodes run as last applied and no former controller is left: a lease may still
    /// name one that is ending.
    void rolledOut() {
        var _ = cluster.kubectl("-n", NAMESPACE, "rollout", "status", "--timeout=120s", "deployment/" + CONTROLLER);
        var _ = cluster.kubectl("-n", NAMESPACE, "rollout", "status", "--timeout=120s", "daemonset/" + NODE);
        var _ = cluster.awaitAll(
                "no controller is ending",
                cluster.client().pods().inNamespace(NAMESPACE).withLabel("app.kubernetes.io/component", "controller"),
                pods -> pods.stream()
                        .allMatch(pod -> Objects.isNull(pod.getMetadata().getDeletionTimestamp())));
    }

    /// Returns the folder of the installation.
    DeployFolder folder() {
        return folder;
    }

    /// Sets environment variables of the nodes' plugin with `NAME=VALUE`, or removes them with `NAME-`.
    void setNodeEnvironment(String... variables) {
        setEnvironment("daemonset/" + NODE, variables);
    }

    /// Does the same for the controllers.
    void setControllerEnvironment(String... variables) {
        setEnvironment("deployment/" + CONTROLLER, variables);
    }

    private void setEnvironment(String of, String... variables) {
        String[] words = Stream.concat(Stream.of("-n", NAMESPACE, "set", "env", of), Stream.of(variables))
                .toArray(String[]::new);
        var _ = cluster.kubectl(words);
        rolledOut();
    }

    /// Deletes the pods that run ceph-fuse and waits for new ones. This ends all of the pods' mounts through
    /// ceph-fuse.
    void restartFuse() {
        Set<String> before =
                podsOf("fuse").map(pod -> pod.getMetadata().getName()).collect(Collectors.toSet());
        before.forEach(name ->
                cluster.client().pods().inNamespace(NAMESPACE).withName(name).delete());
        var _ = cluster.awaitAll(
                "the FUSE pods are others, and ready",
                cluster.client().pods().inNamespace(NAMESPACE).withLabel("app.kubernetes.io/component", "fuse"),
                pods -> pods.size() == before.size()
                        && pods.stream()
                                .allMatch(pod ->
                                        !before.contains(pod.getMetadata().getName()) && Readiness.isPodReady(pod)));
    }

    /// Returns the logs of the pods that run ceph-fuse.
    String fuseLog() {
        return podsOf("fuse")
                .map(pod -> cluster.client().pods().resource(pod).getLog())
                .collect(Collectors.joining());
    }

    /// Restarts the nodes' pods.
    void restartNodes() {
        var _ = cluster.kubectl("-n", NAMESPACE, "rollout", "restart", "daemonset/" + NODE);
        rolledOut();
    }

    /// Returns the CSI drivers of the lab's node.
    List<String> driversOfNode() {
        String names = cluster.kubectl("get", "csinode", cluster.node(), "-o", "jsonpath={.spec.drivers[*].name}");
        return Stream.of(names.split(" ", -1)).filter(name -> !name.isEmpty()).toList();
    }

    /// Returns the pod of the leading controller.
    String leader() {
        return holder().orElseThrow(() -> new AssertionError("nobody leads"));
    }

    /// Kills the leading controller, so that work stays half done and the Lease is not released. Deletes its pod too,
    /// so that another takes over.
    ///
    /// @return that pod
    String killLeader() {
        String leader = leader();
        ProcessesOfLab.kill("--lead-as=" + leader);
        var _ = cluster.client()
                .pods()
                .inNamespace(NAMESPACE)
                .withName(leader)
                .withGracePeriod(0)
                .delete();
        return leader;
    }

    private Optional<String> holder() {
        return Optional.ofNullable(cluster.client()
                .leases()
                .inNamespace(NAMESPACE)
                .withName(CONTROLLER)
                .get()
                .getSpec()
                .getHolderIdentity());
    }

    /// Runs `siphon` in the leading pod, as docs/how-to/operate.md says. While controllers are replaced, the
    /// Lease names a pod that is gone for some seconds; this waits for that.
    Command.Result siphon(String... words) {
        var _ = Await.until(
                "the controller that leads is there",
                Cluster.PATIENCE,
                () -> podsOf("controller")
                        .filter(pod -> pod.getMetadata().getDeletionTimestamp() == null)
                        .map(pod -> pod.getMetadata().getName())
                        .anyMatch(name -> holder().filter(name::equals).isPresent()));
        return exec(leader(), "siphon", words);
    }

    /// Runs a command in the pod of the lab's node.
    Command.Result onNode(String program, String... words) {
        return exec(nodePod(cluster.node()), program, words);
    }

    /// Returns the plugin's pod on a node.
    String nodePod(String node) {
        return podsOf("node")
                .filter(pod -> node.equals(pod.getSpec().getNodeName()))
                .map(pod -> pod.getMetadata().getName())
                .findFirst()
                .orElseThrow();
    }

    private Command.Result exec(String pod, String program, String... words) {
        List<String> command = Stream.concat(
                        Stream.of("-n", NAMESPACE, "exec", pod, "-c", "siphon", "--", program), Stream.of(words))
                .toList();
        return cluster.tryKubectl(command.toArray(String[]::new));
    }

    /// Returns the number of restarts of the controllers' sidecars, including the standby's.
    int restartsOfSidecars() {
        return podsOf("controller")
                .flatMap(pod -> pod.getStatus().getContainerStatuses().stream())
                .filter(container -> !"siphon".equals(container.getName()))
                .mapToInt(container -> container.getRestartCount())
                .sum();
    }

    Stream<Pod> podsOf(String component) {
        return cluster
                .client()
                .pods()
                .inNamespace(NAMESPACE)
                .withLabel("app.kubernetes.io/component", component)
                .list()
                .getItems()
                .stream();
    }

    /// Returns the Secrets with volumes' keys.
    List<String> keySecrets() {
        KubernetesClient client = cluster.client();
        return client.secrets().inNamespace(NAMESPACE).list().getItems().stream()
                .filter(secret -> "siphon.dev/volume-key".equals(secret.getType()))
                .map(secret -> secret.getMetadata().getName())
                .toList();
    }

    /// Uninstalls Siphon by `kubectl delete -k`.
    void uninstall() {
        var _ = cluster.kubectl("delete", "-k", folder.path().toString(), "--timeout=120s");
    }
}
