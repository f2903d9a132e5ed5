package dev.siphon.controller.warm;

import dev.siphon.controller.warm.GatedDatasets.ReadDecision;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/// What is known of one pod at the gate when it is decided whether that opens.
///
/// @param reads what the pod reads
/// @param since when its wait began
/// @param patience its maximum wait
/// @param isPlacementRequired as in [GatedPod]
/// @param suited the names of the nodes that suit the pod itself
/// @param isRoom whether a node has room now for a pod of its group
/// @param nodes those that suit its group, best first; empty if none suits the pod
record ObservedGate(
        ReadDecision reads,
        Instant now,
        Instant since,
        Duration patience,
        boolean isPlacementRequired,
        Set<String> suited,
        boolean isRoom,
        List<Place> nodes) {
    ObservedGate {
        suited = Set.copyOf(suited);
        nodes = List.copyOf(nodes);
    }

    /// What a node is chosen for.
    enum Choice {
        /// The pods will run here, as far as that is known: the gate waits for it.
        NEEDED,
        /// The datasets are filled here too, so that the scheduler has a choice.
        SPARE,
        NONE
    }

    /// A node.
    ///
    /// @param isWhole whether it has whole replicas of all datasets
    /// @param isQueued whether a replica waits for its turn in the cluster, and none is filled
    /// @param progress how far each replica is, for people
    /// @param troubles why replicas do not become whole
    record Place(
            ClusterNode node,
            Choice choice,
            boolean isWhole,
            boolean isQueued,
            List<String> progress,
            List<String> troubles) {
        boolean isFilled() {
            return choice != Choice.NONE;
        }
    }

    Instant end() {
        return since.plus(patience);
    }

    /// Returns whether the pod itself may run there: a node may suit only other pods of its group.
    boolean isSuited(Place place) {
        return suited.contains(place.node().name());
    }

    boolean isLate() {
        return now.isAfter(end());
    }

    /// Returns the nodes that the gate waits for.
    Stream<Place> needed() {
        return nodes.stream().filter(place -> place.choice() == Choice.NEEDED);
    }

    /// Returns whether no node that the gate waits for can have the datasets.
    boolean isHopeless() {
        return needed().noneMatch(place -> place.troubles().isEmpty());
    }

    /// Returns whether all nodes that can have the datasets have them; if no node has room, one is enough.
    boolean isWarm() {
        Stream<Place> possible = needed().filter(place -> place.troubles().isEmpty());
        return isRoom ? !isHopeless() && possible.allMatch(Place::isWhole) : possible.anyMatch(Place::isWhole);
    }
}
