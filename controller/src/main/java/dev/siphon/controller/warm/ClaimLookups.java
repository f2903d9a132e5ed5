package dev.siphon.controller.warm;

import dev.siphon.controller.warm.WarmingCluster.Claimed;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.Quoted;
import dev.siphon.csi.dataset.Dataset;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/// The PVCs of one look. Each is asked for once, whatever comes of it, since many pods may name the same; and none
/// after a moment, since what pods name is up to whoever makes them.
final class ClaimLookups {
    private final WarmingCluster cluster;
    private final Map<String, Shared> declared;
    private final InstantSource clock;
    private final Instant end;

    /// What came of each, also if it is an exception.
    private final Map<Claim, Supplier<Optional<String>>> answers = new HashMap<>();

    private record Claim(String namespace, String name) {}

    /// @param declared the datasets that there are
    /// @param end when to ask for no more
    ClaimLookups(WarmingCluster cluster, Map<String, Shared> declared, InstantSource clock, Instant end) {
        this.cluster = cluster;
        this.declared = declared;
        this.clock = clock;
        this.end = end;
    }

    /// The name of the dataset that a PVC shows; empty if it shows none.
    ///
    /// @throws DriverException.NotFound if there is no such PVC, or nobody can say yet
    /// @throws DriverException.InvalidRequest if what is written at it is no dataset's name
    /// @throws DriverException.DeadlinePassed if it is too late to ask in this look
    Optional<String> dataset(String namespace, String name) {
        return answers.computeIfAbsent(new Claim(namespace, name), this::ask).get();
    }

    private Supplier<Optional<String>> ask(Claim claim) {
        if (!clock.instant().isBefore(end)) {
            throw new DriverException.DeadlinePassed("PVCs take longer to be read than a look has; retry");
        }
        try {
            Claimed found = cluster.claimed(claim.namespace(), claim.name())
                    .orElseThrow(() -> new DriverException.NotFound("PVC " + claim.namespace() + "/"
                            + Quoted.of(claim.name()) + " is not there, or has no volume yet"));
            Optional<String> dataset = dataset(found);
            return () -> dataset;
        } catch (DriverException none) {
            return () -> {
                throw none;
            };
        }
    }

    private Optional<String> dataset(Claimed found) {
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
