package dev.siphon.controller.warm;

import dev.siphon.controller.warm.WarmingCluster.Claimed;
import dev.siphon.controller.warm.WarmingCluster.Notice;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.Quoted;
import dev.siphon.csi.dataset.Dataset;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/// Which datasets pods at the gate read, and whether they may. What a pod names does not change; what a PVC is,
/// is asked until it is known.
final class Reading {
    private final WarmingCluster cluster;

    /// What was found out of pods, by their uids.
    private final Map<String, Set<String>> known = new HashMap<>();

    Reading(WarmingCluster cluster) {
        this.cluster = cluster;
    }

    /// What a pod reads.
    sealed interface Read {
        /// Nothing that could be warmed.
        record Nothing() implements Read {}

        /// These datasets, by their names.
        record All(Set<String> datasets) implements Read {}

        /// It cannot run as it is.
        record Cannot(Notice why) implements Read {}
    }

    /// Forgets the pods that are gone.
    void keepOnly(Set<String> uids) {
        known.keySet().retainAll(uids);
    }

    /// @param declared the datasets that there are
    Read of(GatedPod pod, Map<String, Shared> declared) {
        try {
            Set<String> names = names(pod, declared);
            known.put(pod.uid(), names);
            for (String name : names) {
                Optional<Shared> shared = Optional.ofNullable(declared.get(name));
                if (shared.isEmpty()) {
                    throw new DriverException.NotFound("there is no dataset " + Quoted.of(name)
                            + "; one that was declared just now is known within 15 s");
                }
                if (!shared.get().isFor(pod.namespace())) {
                    throw new DriverException.AccessDenied("namespace " + Quoted.of(pod.namespace())
                            + " is no reader of dataset " + name + ": whoever administers it may add the account of"
                            + " that namespace, or a group that it is in, to its readers");
                }
            }
            return names.isEmpty() ? new Read.Nothing() : new Read.All(names);
        } catch (DriverException.BackendUnavailable notNow) {
            throw notNow;
        } catch (DriverException cannot) {
            return new Read.Cannot(new Notice(
                    true,
                    "DatasetNotReadable",
                    "the pod cannot run, and is not let go, so that it takes no GPU: " + cannot.getMessage()));
        }
    }

    private Set<String> names(GatedPod pod, Map<String, Shared> declared) {
        Optional<Set<String>> before = Optional.ofNullable(known.get(pod.uid()));
        if (before.isPresent()) {
            return before.get();
        }
        Set<String> names = new TreeSet<>();
        for (GatedPod.Use use : pod.uses()) {
            switch (use) {
                case GatedPod.Use.Named(var text) -> names.add(Dataset.name("volume attribute dataset", text));
                case GatedPod.Use.Claimed(var claim) ->
                    claimed(pod.namespace(), claim, declared).ifPresent(names::add);
            }
        }
        return names;
    }

    private Optional<String> claimed(String namespace, String claim, Map<String, Shared> declared) {
        Claimed found = cluster.claimed(namespace, claim)
                .orElseThrow(() -> new DriverException.NotFound(
                        "PVC " + namespace + "/" + Quoted.of(claim) + " is not there, or has no volume yet"));
        return switch (found) {
            case Claimed.Named(var text) -> Optional.of(Dataset.name("annotation of the PVC", text));
            case Claimed.Volume(var volume) ->
                declared.entrySet().stream()
                        .filter(each -> each.getValue().volume().equals(volume.forNobody()))
                        .map(Map.Entry::getKey)
                        .findFirst();
            case Claimed.Other _ -> Optional.empty();
        };
    }
}
