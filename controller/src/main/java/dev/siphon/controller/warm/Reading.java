package dev.siphon.controller.warm;

import dev.siphon.controller.warm.WarmingCluster.Notice;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.Quoted;
import dev.siphon.csi.dataset.Dataset;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// Which datasets pods at the gate read, and whether they may. What a pod names does not change; what a PVC is,
/// is asked until it is known.
///
/// What pods name is up to whoever makes them, and everybody's pods wait for a look. So a pod has few PVCs; one that
/// is found is asked for no more for that pod, and one that is not after pauses that grow; and what is asked for in
/// one look has its time.
final class Reading {
    /// Of one pod.
    static final int MOST_CLAIMS = 32;

    /// What all PVCs of a look may take.
    static final Duration LOOKUPS = Duration.ofSeconds(5);

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final WarmingCluster cluster;
    private final InstantSource clock;

    /// What was found out of pods, by their uids.
    private final Map<String, Set<String>> known = new HashMap<>();

    /// The same of those of which not everything was, by their claims.
    private final Map<String, Map<String, Optional<String>>> found = new HashMap<>();

    /// Those of whose claims one could not be had, by their uids.
    private final Map<String, Tried> tried = new HashMap<>();

    /// @param pause until it is tried again
    private record Tried(Instant when, Duration pause, Read read) {}

    Reading(WarmingCluster cluster, InstantSource clock) {
        this.cluster = cluster;
        this.clock = clock;
    }

    /// What a pod reads.
    sealed interface Read {
        /// Nothing that could be warmed.
        record Nothing(Notice why) implements Read {}

        /// These datasets, by their names.
        record All(Set<String> datasets) implements Read {}

        /// It cannot run as it is.
        record Cannot(Notice why) implements Read {}

        /// Nobody can say in this look.
        record Unknown() implements Read {}
    }

    /// @param reads of each pod
    /// @param silent why something got no answer, if anything did
    record Found(Map<GatedPod, Read> reads, Optional<DriverException.BackendUnavailable> silent) {
        /// The namespaces of those that read something, by the datasets' names.
        Map<String, Set<String>> namespaces() {
            Map<String, Set<String>> namespaces = new HashMap<>();
            reads.forEach((pod, read) -> {
                if (read instanceof Read.All(var datasets)) {
                    datasets.forEach(dataset -> namespaces
                            .computeIfAbsent(dataset, _ -> new HashSet<>())
                            .add(pod.namespace()));
                }
            });
            return namespaces;
        }
    }

    /// What all these pods read; others are forgotten.
    ///
    /// @param declared the datasets that there are
    Found all(List<GatedPod> gated, Map<String, Shared> declared) {
        Set<String> uids = gated.stream().map(GatedPod::uid).collect(Collectors.toSet());
        List.of(known, found, tried).forEach(each -> each.keySet().retainAll(uids));
        ClaimLookups claims =
                new ClaimLookups(cluster, declared, clock, clock.instant().plus(LOOKUPS));
        // those that were tried last, last: else some that fail could take all the time of each look
        Comparator<GatedPod> order = Comparator.comparing(pod ->
                Optional.ofNullable(tried.get(pod.uid())).map(Tried::when).orElse(Instant.EPOCH));
        List<GatedPod> ordered = gated.stream()
                .sorted(order.thenComparing(GatedPod::since).thenComparing(GatedPod::uid))
                .toList();
        Map<GatedPod, Read> reads = new LinkedHashMap<>();
        List<DriverException.BackendUnavailable> failures = new ArrayList<>();
        for (GatedPod pod : ordered) {
            reads.put(pod, of(pod, declared, claims, failures));
        }
        return new Found(reads, failures.stream().findFirst());
    }

    /// @param failures gets what had no answer
    private Read of(
            GatedPod pod,
            Map<String, Shared> declared,
            ClaimLookups claims,
            List<DriverException.BackendUnavailable> failures) {
        Optional<Set<String>> before = Optional.ofNullable(known.get(pod.uid()));
        if (before.isPresent()) {
            return read(pod, before.get(), declared);
        }
        Optional<Tried> last = Optional.ofNullable(tried.get(pod.uid()));
        if (last.filter(each -> each.when().plus(each.pause()).isAfter(clock.instant()))
                .isPresent()) {
            return last.get().read();
        }
        Set<String> own = claims(pod);
        if (own.size() > MOST_CLAIMS) {
            return new Read.Nothing(tooMany(own.size()));
        }
        try {
            Set<String> names = names(pod, own, claims);
            known.put(pod.uid(), names);
            tried.remove(pod.uid());
            found.remove(pod.uid());
            return read(pod, names, declared);
        } catch (DriverException.DeadlinePassed _) {
            return new Read.Unknown(); // it goes on at the next look
        } catch (DriverException.BackendUnavailable silent) {
            failures.add(silent);
            return again(pod, last, new Read.Unknown());
        } catch (DriverException cannot) {
            return again(pod, last, cannot(cannot));
        }
    }

    private Read again(GatedPod pod, Optional<Tried> last, Read read) {
        Duration pause = last.map(each -> Collections.min(List.of(each.pause().multipliedBy(2), LONGEST_PAUSE)))
                .orElse(FIRST_PAUSE);
        tried.put(pod.uid(), new Tried(clock.instant(), pause, read));
        return read;
    }

    private static Set<String> claims(GatedPod pod) {
        Set<String> claims = new LinkedHashSet<>();
        for (GatedPod.Use use : pod.uses()) {
            if (use instanceof GatedPod.Use.Claimed(var claim)) {
                claims.add(claim);
            }
        }
        return claims;
    }

    private static Notice tooMany(int claims) {
        return new Notice(
                true,
                "DatasetNotWarm",
                "the pod has volumes of " + claims + " PVCs, of which " + MOST_CLAIMS
                        + " at most are looked at, so no dataset is filled for it; it is let go");
    }

    private Set<String> names(GatedPod pod, Set<String> own, ClaimLookups claims) {
        Set<String> names = new TreeSet<>();
        for (GatedPod.Use use : pod.uses()) {
            if (use instanceof GatedPod.Use.Named(var text)) {
                names.add(Dataset.name("volume attribute dataset", text));
            }
        }
        Map<String, Optional<String>> before = found.computeIfAbsent(pod.uid(), _ -> new HashMap<>());
        for (String claim : own) {
            before.computeIfAbsent(claim, _ -> claims.dataset(pod.namespace(), claim))
                    .ifPresent(names::add);
        }
        return names;
    }

    private static Read read(GatedPod pod, Set<String> names, Map<String, Shared> declared) {
        try {
            names.forEach(name -> check(pod, name, declared));
        } catch (DriverException cannot) {
            return cannot(cannot);
        }
        return names.isEmpty()
                ? new Read.Nothing(new Notice(false, "DatasetWarm", "the pod reads no dataset that could be warmed"))
                : new Read.All(names);
    }

    private static void check(GatedPod pod, String name, Map<String, Shared> declared) {
        Optional<Shared> shared = Optional.ofNullable(declared.get(name));
        if (shared.isEmpty()) {
            throw new DriverException.NotFound(
                    "there is no dataset " + Quoted.of(name) + "; one that was declared just now is known within 15 s");
        }
        if (!shared.get().isFor(pod.namespace())) {
            throw new DriverException.AccessDenied("namespace " + Quoted.of(pod.namespace())
                    + " is no reader of dataset " + name + ": whoever administers it may add the account of"
                    + " that namespace, or a group that it is in, to its readers");
        }
    }

    private static Read cannot(DriverException why) {
        return new Read.Cannot(new Notice(
                true,
                "DatasetNotReadable",
                "the pod cannot run, and is not let go, so that it takes no GPU: " + why.getMessage()));
    }
}
