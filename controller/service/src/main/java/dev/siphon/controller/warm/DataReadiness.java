package dev.siphon.controller.warm;

import dev.siphon.controller.warm.WarmupCluster.Notice;
import dev.siphon.csi.QuotedText;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// Whether the datasets of a pod are on a disk from which it reads them, in the words of `siphon why` and of the
/// pod's condition [#CONDITION].
///
/// @param sentence says what the pod waits for, how far that is, how long it may last and what to do; without its
///     subject, the pod
public record DataReadiness(Reason reason, String sentence) {
    /// The type of the pod's condition.
    public static final String CONDITION = "siphon.dev/DataReady";

    /// Events of the gate that say why it stays closed.
    public static final Set<String> CLOSED = Set.of("DatasetNotReadable", "GateNotOpened");

    private static final int MOST_CHARS = 1_000;

    /// Most characters that are quoted of an event.
    private static final int MOST_QUOTED = 600;

    /// The datasets or replicas that a sentence names.
    private static final int MOST_NAMED = 5;

    /// The reason of the condition.
    public enum Reason {
        WAITS_AT_GATE("WaitsAtGate"),
        GATE_CLOSED("GateClosed"),
        READS_FROM_CEPHFS("ReadsFromCephFS"),
        ON_DISK("OnDisk");

        private final String text;

        Reason(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }
    }

    public DataReadiness {
        sentence = cut(QuotedText.printable(sentence), MOST_CHARS);
    }

    /// Whether the condition is true.
    public boolean isReady() {
        return reason == Reason.ON_DISK;
    }

    /// Returns it for a pod that waits at the gate.
    ///
    /// @param datasets those of the pod, by name
    /// @param replicas all ordered replicas
    /// @param end when the wait ends; empty if that is not known
    public static DataReadiness atGate(
            Set<String> datasets, Collection<OrderedReplica> replicas, Optional<String> end) {
        String far = progress(datasets, replicas, replica -> replica.order().wanted() || replica.isLocal());
        return new DataReadiness(
                Reason.WAITS_AT_GATE,
                "waits at the gate for " + (datasets.isEmpty() ? "its dataset" : named(datasets)) + ": "
                        + (far.isEmpty() ? "no replica is ordered yet" : far) + "; it waits "
                        + end.map(time -> "until " + time + " at most, and then starts and reads from CephFS")
                                .orElse("as long as its annotation " + GatedPod.PATIENCE
                                        + " or the controller's --gate-max-wait allows")
                        + "; nothing to do, or remove the gate from the pod to start it at once");
    }

    /// Returns it for a pod whose gate stays closed.
    ///
    /// @param why what the gate's event says
    public static DataReadiness closed(String why) {
        return new DataReadiness(
                Reason.GATE_CLOSED,
                "waits at the gate, which stays closed until somebody acts: " + cut(why, MOST_QUOTED));
    }

    /// Returns it for a pod whose gate has opened, and that is on no node yet.
    static DataReadiness passed(Notice notice) {
        return new DataReadiness(
                notice.warning() ? Reason.READS_FROM_CEPHFS : Reason.ON_DISK, "passed the gate: " + notice.message());
    }

    /// Returns it for a pod on a node.
    ///
    /// @param datasets those of the pod, by name
    /// @param replicas all ordered replicas
    public static DataReadiness onNode(String node, Set<String> datasets, Collection<OrderedReplica> replicas) {
        List<OrderedReplica> here = replicas.stream()
                .filter(replica -> replica.order().node().equals(node)
                        && datasets.contains(replica.order().dataset()))
                .toList();
        if (here.stream().filter(OrderedReplica::isLocal).count() == datasets.size()) {
            return new DataReadiness(Reason.ON_DISK, "reads " + named(datasets) + " from a disk of node " + node);
        }
        String far = progress(datasets, here, replica -> !replica.isLocal());
        return new DataReadiness(
                Reason.READS_FROM_CEPHFS,
                "reads " + named(datasets) + " from CephFS until it is whole on a disk: "
                        + (far.isEmpty()
                                ? "no replica is ordered on node " + node
                                        + ", but it may fill one for its pods, which `siphon cache list` there shows"
                                : far)
                        + "; the pod runs meanwhile, however long that takes; nothing to do, unless a fill fails");
    }

    private static String cut(String text, int most) {
        return text.length() <= most ? text : text.substring(0, most) + "...";
    }

    private static String named(Set<String> datasets) {
        return "dataset " + few(datasets.stream().sorted().toList());
    }

    private static String progress(
            Set<String> datasets, Collection<OrderedReplica> replicas, Predicate<OrderedReplica> which) {
        return few(replicas.stream()
                .filter(replica -> datasets.contains(replica.order().dataset()))
                .filter(which)
                .map(replica -> (datasets.size() > 1 ? replica.order().dataset() + " " : "") + replica.progress())
                .sorted()
                .toList());
    }

    private static String few(List<String> texts) {
        String first = texts.stream().limit(MOST_NAMED).collect(Collectors.joining(", "));
        return texts.size() <= MOST_NAMED ? first : first + " and " + (texts.size() - MOST_NAMED) + " more";
    }
}
