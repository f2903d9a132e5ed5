package dev.siphon.controller.audit;

import dev.siphon.controller.audit.Finding.Kind;
import dev.siphon.controller.key.DatasetIdentity;
import dev.siphon.controller.key.Identities;
import dev.siphon.controller.volume.Clusters;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// Finds identities with which nodes of another Kubernetes cluster read datasets. Its controllers remove them
/// while it lives; those of a lost cluster stay. Ceph cannot tell the two apart, so an administrator must name
/// the lost ones.
public final class ForeignIdentityChecks {
    private static final int MOST_NODES = 5;

    private final Clusters clusters;
    private final Identities identities;
    private final Optional<String> own;
    private final Set<String> lost;

    /// @param own the code of this process's Kubernetes cluster ([dev.siphon.controller.volume.CephNames#owner]).
    ///     Empty without Kubernetes; then nothing is found, because foreign identities cannot be distinguished
    /// @param lost the codes of the clusters that an administrator declared lost
    public ForeignIdentityChecks(Clusters clusters, Identities identities, Optional<String> own, Set<String> lost) {
        this.clusters = clusters;
        this.identities = identities;
        this.own = own;
        this.lost = Set.copyOf(lost);
    }

    /// Returns the findings; costs one mon command per Ceph cluster.
    public List<Finding> find() {
        List<Finding> found = new ArrayList<>();
        if (own.isEmpty()) {
            return found;
        }
        for (String cluster : clusters.ids()) {
            List<String> all = identities.startingWith(cluster, DatasetIdentity.PREFIX);
            for (Clusters.FileSystem fileSystem : clusters.fileSystems(cluster)) {
                others(fileSystem.name(), all)
                        .forEach((owner, theirs) -> found.add(finding(cluster, fileSystem.name(), owner, theirs)));
            }
        }
        return found;
    }

    private Map<String, List<DatasetIdentity>> others(String fileSystem, List<String> all) {
        Map<String, List<DatasetIdentity>> others = new TreeMap<>();
        all.stream()
                .flatMap(userId -> DatasetIdentity.parse(fileSystem, userId).stream())
                .forEach(identity -> identity.owner()
                        .filter(owner -> !own.equals(Optional.of(owner)))
                        .ifPresent(owner -> others.computeIfAbsent(owner, _ -> new ArrayList<>())
                                .add(identity)));
        return others;
    }

    private Finding finding(String cluster, String fileSystem, String owner, List<DatasetIdentity> theirs) {
        List<String> nodes = theirs.stream()
                .flatMap(identity -> identity.node().stream())
                .map(DatasetIdentity.AtNode::name)
                .distinct()
                .sorted()
                .toList();
        String some = nodes.stream().limit(MOST_NODES).collect(Collectors.joining(", "));
        String more = nodes.size() > MOST_NODES ? " and " + (nodes.size() - MOST_NODES) + " more" : "";
        return new Finding(
                Kind.OTHER_KUBERNETES,
                cluster + ":" + fileSystem + ":" + owner,
                theirs.size() + " identities that read datasets were made for another Kubernetes"
                        + (nodes.isEmpty() ? "" : ", for its nodes " + some + more),
                lost.contains(owner)
                        ? new Repair.RemoveIdentities(
                                cluster,
                                fileSystem,
                                theirs.stream().map(DatasetIdentity::userId).toList())
                        : new Repair.ByHand(
                                "do nothing while that Kubernetes exists; if it is lost forever, `siphon audit"
                                        + " --repair"
                                        + " --yes --lost-kubernetes " + owner + "`"));
    }
}
