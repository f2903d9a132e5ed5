package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Project;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// A further node of the cluster: a guest of the lab, whose kernel mounts CephFS.
///
/// @param name the node's
/// @param guest its number, from 1 to 9
record KernelNode(Cluster cluster, String name, int guest) {
    private static final Duration JOIN_LIMIT = Duration.ofMinutes(5);

    /// Boots the guest with the current images of the lab's node and waits until the plugin runs there.
    static KernelNode join(Installation siphon, Cluster cluster) {
        return join(siphon, cluster, 1);
    }

    /// Does the same with another guest.
    static KernelNode join(Installation siphon, Cluster cluster, int guest) {
        String said =
                Command.run(JOIN_LIMIT, List.of(program("e2e/lab"), "kubernetes", "join", Integer.toString(guest)));
        String name = said.lines().reduce((_, last) -> last).orElseThrow();
        siphon.rolledOut();
        return new KernelNode(cluster, name, guest);
    }

    /// Runs a command in the guest; it must succeed.
    String run(String... words) {
        List<String> command = new ArrayList<>(List.of(program("e2e/lab"), "guest", Integer.toString(guest)));
        command.addAll(List.of(words));
        return Command.run(Cluster.PATIENCE, command);
    }

    /// Returns the mount points of the pods' CephFS there.
    List<String> cephMounts() {
        return run("cat", "/proc/mounts")
                .lines()
                .map(line -> line.split(" ", -1))
                .filter(fields ->
                        fields.length > 2 && fields[2].equals("ceph") && fields[1].startsWith("/var/lib/kubelet/"))
                .map(fields -> fields[1])
                .toList();
    }

    /// Returns the address with which it reaches the cluster and Ceph.
    String address() {
        return cluster.client().nodes().withName(name).get().getStatus().getAddresses().stream()
                .filter(each -> "InternalIP".equals(each.getType()))
                .map(each -> each.getAddress())
                .findFirst()
                .orElseThrow();
    }

    /// Cordons the node: only pods that name it start there.
    void cordon() {
        var _ = cluster.kubectl("cordon", name);
    }

    void uncordon() {
        var _ = cluster.kubectl("uncordon", name);
    }

    /// Drains the node as an administrator does.
    void drain() {
        var _ = cluster.kubectl(
                "drain", name, "--ignore-daemonsets", "--force", "--delete-emptydir-data", "--timeout=120s");
    }

    /// Removes the node from the cluster and kills the guest. Deletes its pods at once: Kubernetes would keep them
    /// for minutes, and they would count in every list of a DaemonSet's pods.
    void leave() {
        var _ = cluster.client().nodes().withName(name).delete();
        var _ = Command.run(program("e2e/lab"), "guest", "kill", Integer.toString(guest));
        var pods = cluster.client().pods().inAnyNamespace().withField("spec.nodeName", name);
        pods.list()
                .getItems()
                .forEach(pod ->
                        cluster.client().pods().resource(pod).withGracePeriod(0).delete());
        var _ = cluster.awaitAll("pods of a node that is gone", pods, List::isEmpty);
    }

    private static String program(String path) {
        return Project.folder().resolve(path).toString();
    }
}
