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
    private final Map<String, Names> known = new HashMap<>();

    GatedDatasets(WarmupCluster cluster) {
        this.cluster = cluster;
    }

    /// @param unbound why the dataset of a PVC is not known yet
    private record Names(Set<String> datasets, Optional<String> unbound) {}

    /// What a pod reads.
    sealed interface ReadDecision {
        /// It reads no dataset that could be filled.
        record Nothing(Notice why) implements ReadDecision {}

        /// It reads these datasets, by name.
        record All(Set<String> datasets) implements ReadDecision {}

        /// It reads these datasets, by name; the devices that it requests are still being read.
        record Pending(Set<String> datasets) implements ReadDecision {}

        /// It reads these datasets, by name, and perhaps that of a PVC that is not there or has no volume yet.
        record Unbound(Set<String> datasets, String why) implements ReadDecision {}

        /// It cannot run as it is.
        record Cannot(String why) implements ReadDecision {}

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
            Names names = Optional.ofNullable(known.get(pod.uid())).orElseGet(() -> names(pod, declared));
            if (names.unbound().isEmpty()) {
                known.put(pod.uid(), names);
            }
            ReadDecision found = read(pod, names, declared);
            return !pod.isKnown() && found instanceof ReadDecision.All(var datasets)
                    ? new ReadDecision.Pending(datasets)
                    : found;
        } catch (DriverException.BackendUnavailable silent) {
            failures.add(silent);
            return new ReadDecision.Unknown();
        } catch (DriverException cannot) {
            return new ReadDecision.Cannot(cannot.getMessage());
        }
    }

    private Names names(GatedPod pod, Map<String, Shared> declared) {
        Set<String> names = new TreeSet<>();
        Optional<String> unbound = Optional.empty();
        for (GatedPod.DatasetReference use : pod.uses()) {
            switch (use) {
                case GatedPod.DatasetReference.ByName(var text) ->
                    names.add(Dataset.name("volume attribute dataset", text));
                case GatedPod.DatasetReference.ByClaim(var claim) -> {
                    Optional<ClaimContent> found = cluster.claimed(pod.namespace(), claim);
                    found.flatMap(content -> dataset(content, declared)).ifPresent(names::add);
                    unbound = unbound.or(() -> found.isPresent() ? Optional.empty() : Optional.of(missing(pod, claim)));
                }
                case GatedPod.DatasetReference.Unread _ -> {}
            }
        }
        return new Names(names, unbound);
    }

    private static String missing(GatedPod pod, String claim) {
        return "PVC " + pod.namespace() + "/" + QuotedText.of(claim) + " is not there, or has no volume yet";
    }

    /// Returns the name of the dataset that a PVC shows; empty if it shows none.
    private static Optional<String> dataset(ClaimContent found, Map<String, Shared> declared) {
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

    private static ReadDecision read(GatedPod pod, Names names, Map<String, Shared> declared) {
        names.datasets().forEach(name -> check(pod, name, declared));
        if (names.unbound().isPresent()) {
            return new ReadDecision.Unbound(names.datasets(), names.unbound().get());
        }
        return names.datasets().isEmpty()
                ? new ReadDecision.Nothing(
                        new Notice(false, "DatasetWarm", "the pod reads no dataset that could be warmed"))
                : new ReadDecision.All(names.datasets());
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
}
