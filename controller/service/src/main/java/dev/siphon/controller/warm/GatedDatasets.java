package dev.siphon.controller.warm;

import dev.siphon.controller.warm.WarmupCluster.ClaimContent;
import dev.siphon.controller.warm.WarmupCluster.Notice;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.dataset.Dataset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// Finds out which datasets gated pods read, and whether they may. The result is cached per pod; a pod's PVCs are
/// looked up until all are known.
final class GatedDatasets {
    private final WarmupCluster cluster;

    /// The datasets found, by pod uid.
    private final Map<String, Set<String>> known = new HashMap<>();

    GatedDatasets(WarmupCluster cluster) {
        this.cluster = cluster;
    }

    /// What a pod reads.
    sealed interface ReadDecision {
        /// It reads no dataset that could be filled.
        record Nothing(Notice why) implements ReadDecision {}

        /// It reads these datasets, by name.
        record All(Set<String> datasets) implements ReadDecision {}

        /// It reads these datasets, by name; the devices that it requests are still being read.
        record Pending(Set<String> datasets) implements ReadDecision {}

        /// It cannot run as it is.
        record Cannot(Notice why) implements ReadDecision {}

        /// It cannot be found out now.
        record Unknown() implements ReadDecision {}
    }

    /// @param reads what each pod reads
    /// @param silent the first failed request, if any
    record GatedReads(Map<GatedPod, ReadDecision> reads, Optional<DriverException.BackendUnavailable> silent) {
        /// Returns the namespaces of pods that read datasets, by dataset name.
        Map<String, Set<String>> namespaces() {
            Map<String, Set<String>> namespaces = new HashMap<>();
            reads.forEach((pod, read) -> {
                if (read instanceof ReadDecision.All(var datasets)) {
                    datasets.forEach(dataset -> namespaces
                            .computeIfAbsent(dataset, _ -> new HashSet<>())
                            .add(pod.namespace()));
                }
            });
            return namespaces;
        }
    }

    /// Returns what all these pods read, and drops all other pods from the cache.
    ///
    /// @param declared the existing datasets
    GatedReads all(List<GatedPod> gated, Map<String, Shared> declared) {
        known.keySet().retainAll(gated.stream().map(GatedPod::uid).collect(Collectors.toSet()));
        Map<GatedPod, ReadDecision> reads = new LinkedHashMap<>();
        List<DriverException.BackendUnavailable> failures = new ArrayList<>();
        for (GatedPod pod : gated) {
            reads.put(pod, of(pod, declared, failures));
        }
        return new GatedReads(reads, failures.stream().findFirst());
    }

    /// @param failures collects failed requests
    private ReadDecision of(
            GatedPod pod, Map<String, Shared> declared, List<DriverException.BackendUnavailable> failures) {
        for (GatedPod.DatasetReference use : pod.uses()) {
            if (use instanceof GatedPod.DatasetReference.Unread(var why)) {
                return new ReadDecision.Nothing(new Notice(true, "DatasetNotWarm", why));
            }
        }
        try {
            Set<String> names = Optional.ofNullable(known.get(pod.uid())).orElseGet(() -> names(pod, declared));
            known.put(pod.uid(), names);
            ReadDecision found = read(pod, names, declared);
            return !pod.isKnown() && found instanceof ReadDecision.All(var datasets)
                    ? new ReadDecision.Pending(datasets)
                    : found;
        } catch (DriverException.BackendUnavailable silent) {
            failures.add(silent);
            return new ReadDecision.Unknown();
        } catch (DriverException cannot) {
            return cannot(cannot);
        }
    }

    private Set<String> names(GatedPod pod, Map<String, Shared> declared) {
        Set<String> names = new TreeSet<>();
        for (GatedPod.DatasetReference use : pod.uses()) {
            switch (use) {
                case GatedPod.DatasetReference.ByName(var text) ->
                    names.add(Dataset.name("volume attribute dataset", text));
                case GatedPod.DatasetReference.ByClaim(var claim) ->
                    dataset(pod, claim, declared).ifPresent(names::add);
                case GatedPod.DatasetReference.Unread _ -> {}
            }
        }
        return names;
    }

    /// Returns the name of the dataset that a PVC shows; empty if it shows none.
    private Optional<String> dataset(GatedPod pod, String claim, Map<String, Shared> declared) {
        ClaimContent found = cluster.claimed(pod.namespace(), claim)
                .orElseThrow(() -> new DriverException.NotFound(
                        "PVC " + pod.namespace() + "/" + QuotedText.of(claim) + " is not there, or has no volume yet"));
        return switch (found) {
            case ClaimContent.Named(var text) -> Optional.of(Dataset.name("annotation of the PVC", text));
            case ClaimContent.DatasetClaim(var volume) ->
                declared.entrySet().stream()
                        .filter(each -> each.getValue().volume().equals(volume.withoutClaim()))
                        .map(Map.Entry::getKey)
                        .findFirst();
            case ClaimContent.Other _ -> Optional.empty();
        };
    }

    private static ReadDecision read(GatedPod pod, Set<String> names, Map<String, Shared> declared) {
        try {
            names.forEach(name -> check(pod, name, declared));
        } catch (DriverException cannot) {
            return cannot(cannot);
        }
        return names.isEmpty()
                ? new ReadDecision.Nothing(
                        new Notice(false, "DatasetWarm", "the pod reads no dataset that could be warmed"))
                : new ReadDecision.All(names);
    }

    private static void check(GatedPod pod, String name, Map<String, Shared> declared) {
        Optional<Shared> shared = Optional.ofNullable(declared.get(name));
        if (shared.isEmpty()) {
            throw new DriverException.NotFound("there is no dataset " + QuotedText.of(name)
                    + "; one that was declared just now is known within 15 s");
        }
        if (!shared.get().isFor(pod.namespace())) {
            throw new DriverException.AccessDenied("namespace " + QuotedText.of(pod.namespace())
                    + " is no reader of dataset " + name + ": its administrator may add the namespace's"
                    + " account, or a group of that account, to its readers");
        }
    }

    private static ReadDecision cannot(DriverException why) {
        return new ReadDecision.Cannot(new Notice(
                true,
                "DatasetNotReadable",
                "the pod cannot run, so the gate stays closed and the pod takes no GPU: " + why.getMessage()));
    }
}
