package dev.siphon.controller.warm;

import dev.siphon.controller.warm.GatedDatasets.ReadDecision;
import dev.siphon.controller.warm.ObservedGate.Place;
import dev.siphon.controller.warm.WarmupCluster.Notice;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// Decides whether the gate opens for a pod. Touches nothing, so its test tries every combination.
final class GateDecision {
    /// How long a pod waits if no node can fill its datasets, because a failed fill may succeed on retry.
    static final Duration GRACE = Duration.ofSeconds(30);

    private static final String NOT_WARM = "DatasetNotWarm";

    private GateDecision() {}

    static GateVerdict decide(ObservedGate is) {
        return switch (is.reads()) {
            case ReadDecision.Nothing(var why) -> new GateVerdict.Open(PodPlacement.ANYWHERE, "nothing", why);
            case ReadDecision.Cannot(var why) -> new GateVerdict.Wait(closed(why));
            case ReadDecision.Unbound(var _, var why) -> new GateVerdict.Wait(closed(why));
            case ReadDecision.Pending _ -> new GateVerdict.Undecided(); // for some seconds
            case ReadDecision.Unknown _ -> is.isLate() ? unknown(is) : new GateVerdict.Undecided();
            case ReadDecision.All(var datasets) ->
                is.nodes().isEmpty() ? unsuited() : decide(is, String.join(", ", datasets));
        };
    }

    private static GateVerdict decide(ObservedGate is, String what) {
        // once late, nobody insists: the scheduler, a policy or a full node may never let the pod go there
        boolean isRequired = is.isPlacementRequired() && !is.isLate();
        List<String> whole = isRequired ? hostnames(is, is::isSuited) : hostnames(is, _ -> true);
        if (is.isWarm() && !(isRequired && whole.isEmpty())) {
            return new GateVerdict.Open(
                    new PodPlacement(whole, isRequired),
                    "warm",
                    new Notice(
                            false,
                            "DatasetWarm",
                            "dataset " + what + " is on a disk of " + String.join(", ", whole)
                                    + (isRequired ? "; the pod may run nowhere else" : "")));
        }
        if (is.isLate()) {
            String far = join(is, Place::progress, ", ");
            return open(
                    is,
                    "late",
                    warning("dataset " + what + " is not whole where the pod will run after "
                            + is.patience().toSeconds()
                            + " s, so the gate opens; until it is whole, the pod reads it from CephFS: "
                            + (far.isEmpty() ? "no replica was ordered yet" : far)));
        }
        if (is.isHopeless() && is.now().isAfter(is.since().plus(GRACE))) {
            return open(
                    is,
                    "failed",
                    warning("dataset " + what + " cannot be filled where the pod may run, so the pod reads it"
                            + " from CephFS: " + join(is, Place::troubles, "; ")));
        }
        boolean isQueued = is.needed().anyMatch(Place::isQueued)
                && is.needed().allMatch(place -> place.isQueued() || place.isWhole());
        String names = is.needed().map(place -> place.node().name()).sorted().collect(Collectors.joining(", "));
        return new GateVerdict.Wait(new Notice(
                false,
                "DatasetWarming",
                "dataset " + what + (isQueued ? " waits for its turn to be filled on " : " is being filled on ") + names
                        + "; the pod waits for that until " + is.end() + " at most"));
    }

    /// Returns the event for a pod that cannot run as it is.
    static Notice closed(String why) {
        return new Notice(
                true,
                "DatasetNotReadable",
                "the pod cannot run, so the gate stays closed and the pod takes no GPU: " + why);
    }

    /// Opens the gate, because an autoscaler ignores gated pods and would never add a node.
    private static GateVerdict unsuited() {
        return new GateVerdict.Open(
                PodPlacement.ANYWHERE,
                "unsuited",
                warning("no node of the cluster suits the pod, so its dataset is filled nowhere; the gate"
                        + " opens, so that the scheduler says why and an autoscaler sees the pod"));
    }

    /// Opens the gate after the maximum wait, even if the API server never says what a PVC is.
    private static GateVerdict unknown(ObservedGate is) {
        return new GateVerdict.Open(
                PodPlacement.ANYWHERE,
                "late",
                warning("the datasets of the pod's PVCs were not found within "
                        + is.patience().toSeconds() + " s, so the gate opens"));
    }

    /// Opens the gate before the datasets are whole everywhere, with a preference for the nodes that have them.
    private static GateVerdict open(ObservedGate is, String result, Notice notice) {
        return new GateVerdict.Open(new PodPlacement(hostnames(is, _ -> true), false), result, notice);
    }

    private static List<String> hostnames(ObservedGate is, Predicate<Place> which) {
        return is.nodes().stream()
                .filter(Place::isWhole)
                .filter(which)
                .map(place -> place.node().hostname())
                .toList();
    }

    private static String join(ObservedGate is, Function<Place, List<String>> texts, String between) {
        return is.nodes().stream()
                .filter(Place::isFilled)
                .flatMap(place -> texts.apply(place).stream())
                .collect(Collectors.joining(between));
    }

    private static Notice warning(String message) {
        return new Notice(true, NOT_WARM, message);
    }
}
