package dev.siphon.controller.explain;

import dev.siphon.controller.explain.ClusterObjects.KnownPod;
import dev.siphon.controller.explain.ClusterObjects.KnownVolume;
import dev.siphon.controller.key.ClientSession;
import dev.siphon.controller.key.VolumeIdentity;
import dev.siphon.controller.volume.FileSystemRef;
import dev.siphon.controller.warm.OrderedReplica;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;

/// Collections that one answer needs several times, each read once. One that cannot be read counts as empty, and is
/// reported.
final class ReadOnce {
    private final KnownPlaces places;
    private final BiConsumer<String, DriverException> unanswered;
    private final Map<String, List<?>> known = new HashMap<>();

    /// @param unanswered receives each collection that could not be read
    ReadOnce(KnownPlaces places, BiConsumer<String, DriverException> unanswered) {
        this.places = places;
        this.unanswered = unanswered;
    }

    /// Returns this driver's PersistentVolumes; none without Kubernetes.
    List<KnownVolume> volumes() {
        return inKubernetes(
                "PersistentVolumes", kubernetes -> kubernetes.objects().volumes());
    }

    /// Returns the pods of a namespace that have not ended.
    List<KnownPod> pods(String namespace) {
        return pods("pods of namespace " + namespace, Optional.of(namespace));
    }

    /// Returns the pods of all namespaces that have not ended.
    List<KnownPod> pods() {
        return pods("pods", Optional.empty());
    }

    private List<KnownPod> pods(String what, Optional<String> namespace) {
        return inKubernetes(what, kubernetes -> {
            List<KnownPod> pods = new ArrayList<>();
            kubernetes.objects().pods(namespace, pod -> {
                if (!pod.hasEnded()) {
                    pods.add(pod);
                }
            });
            return pods;
        });
    }

    /// Returns the declared datasets, without the invalid ones.
    List<Dataset> datasets() {
        return inKubernetes(
                "datasets", kubernetes -> kubernetes.datasets().all().datasets());
    }

    List<OrderedReplica> replicas() {
        return inKubernetes("replicas", kubernetes -> kubernetes.replicas().get());
    }

    private <T> List<T> inKubernetes(String what, Function<KnownPlaces.InKubernetes, List<T>> read) {
        return once(what, () -> places.kubernetes().map(read).orElse(List.of()));
    }

    /// Returns the sessions at all MDS daemons of a file system.
    List<ClientSession> sessions(FileSystemRef place) {
        return once("sessions of " + place, () -> places.sessions().all(place.cluster(), place.fileSystem()));
    }

    /// Returns the ids of all volume identities of a cluster.
    List<String> identities(String cluster) {
        return once(
                "identities of cluster " + cluster,
                () -> places.identities().startingWith(cluster, VolumeIdentity.PREFIX));
    }

    /// A kind of collection has one type of elements.
    @SuppressWarnings("unchecked")
    private <T> List<T> once(String what, Supplier<List<T>> read) {
        List<?> before = known.get(what);
        if (before != null) {
            return (List<T>) before;
        }
        List<T> now = attempt(what, read);
        known.put(what, now);
        return now;
    }

    private <T> List<T> attempt(String what, Supplier<List<T>> read) {
        try {
            return List.copyOf(read.get());
        } catch (DriverException.BackendUnavailable | DriverException.AccessDenied notNow) {
            unanswered.accept(what, notNow);
            return List.of();
        }
    }
}
