package dev.siphon.controller.explain;

import dev.siphon.controller.explain.ClusterObjects.KnownPod;
import dev.siphon.controller.key.DatasetIdentity;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.FileSystemRef;
import dev.siphon.controller.warm.OrderedReplica;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// The facts of declared datasets.
final class DatasetSheets {
    private final KnownPlaces places;
    private final ReadOnce once;

    DatasetSheets(KnownPlaces places, ReadOnce once) {
        this.places = places;
        this.once = once;
    }

    /// Returns a sheet for each declared dataset that matches.
    List<FactSheet> of(Predicate<Dataset> which) {
        return once.datasets().stream().filter(which).map(this::sheet).toList();
    }

    /// Returns a sheet for each dataset that a volume shows.
    List<FactSheet> of(VolumeId.DatasetVolume volume) {
        return of(dataset -> volume(dataset).equals(volume.withoutClaim()));
    }

    /// Returns a sheet for the dataset of an identity, with the node that has the identity.
    List<FactSheet> of(FileSystemRef place, DatasetIdentity identity) {
        List<FactSheet> found = of(dataset -> {
            VolumeId.DatasetVolume volume = volume(dataset);
            return volume.cluster().equals(place.cluster())
                    && volume.fileSystem().equals(place.fileSystem())
                    && CephNames.dataset(volume).equals(identity.dataset());
        });
        for (FactSheet sheet : found) {
            sheet.add("identity", "client." + identity.userId());
            identity.node().ifPresent(node -> sheet.add("node", node.name() + ", which reads the dataset by it"));
            once.sessions(place).stream()
                    .filter(session -> session.userId().equals(identity.userId()))
                    .map(VolumeSheets::describe)
                    .distinct()
                    .forEach(session -> sheet.add("session", session));
        }
        return found;
    }

    private VolumeId.DatasetVolume volume(Dataset dataset) {
        return dataset.volume(places.ceph().clusters().defaultCluster());
    }

    private FactSheet sheet(Dataset dataset) {
        VolumeId.DatasetVolume volume = volume(dataset);
        FactSheet sheet = new FactSheet()
                .add("dataset", dataset.name())
                .add("readers", dataset.readers().stream().sorted().collect(Collectors.joining(" ")))
                .add("filesystem", volume.cluster() + "/" + volume.fileSystem())
                .add("path", dataset.path())
                .add("digest", dataset.digest().hex());
        Set<NamespacedName> claims = new TreeSet<>();
        once.volumes().stream()
                .filter(known -> known.volume() instanceof VolumeId.DatasetVolume shown
                        && shown.withoutClaim().equals(volume))
                .filter(known -> !known.isReleased())
                .forEach(known -> {
                    sheet.add("pv", known.name() + " (" + known.phase() + ")");
                    known.claim().ifPresent(claims::add);
                });
        claims.forEach(claim -> sheet.add("claim", claim.toString()));
        once.pods().stream()
                .filter(pod -> names(pod, dataset) || claims.stream().anyMatch(pod::mounts))
                .map(VolumeSheets::describe)
                .sorted()
                .forEach(pod -> sheet.add("pod", pod));
        once.replicas().stream()
                .filter(replica -> replica.order().dataset().equals(dataset.name()))
                .map(OrderedReplica::progress)
                .sorted()
                .forEach(replica -> sheet.add("replica", replica));
        return sheet;
    }

    private static boolean names(KnownPod pod, Dataset dataset) {
        return pod.datasets().stream()
                .anyMatch(written -> Dataset.objectName(written).equals(dataset.name()));
    }
}
