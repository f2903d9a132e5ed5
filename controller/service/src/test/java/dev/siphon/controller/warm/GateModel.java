package dev.siphon.controller.warm;

import dev.siphon.controller.warm.GatedDatasets.ReadDecision;
import dev.siphon.controller.warm.WarmupCluster.Notice;
import dev.siphon.csi.VolumeId.DatasetVolume;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.csi.dataset.DatasetReplica.Report;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// A pod at the gate of a cluster with two nodes, in every situation. A round turns it into another one.
///
/// @param spread as in [GateSettings]
/// @param spots the nodes
record GateModel(Read read, Waited waited, int spread, List<Spot> spots) {
    static final List<String> NODES = List.of("a", "b");

    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final DatasetVolume EARLIER = WarmWorld.volume("earlier");
    private static final Notice WHY = new Notice(true, "Because", "of this");

    enum Read {
        NOTHING(new ReadDecision.Nothing(WHY)),
        ALL(new ReadDecision.All(Set.of(WarmWorld.X))),
        PENDING(new ReadDecision.Pending(Set.of(WarmWorld.X))),
        CANNOT(new ReadDecision.Cannot("of this")),
        UNKNOWN(new ReadDecision.Unknown());

        @SuppressWarnings("ImmutableEnumChecker") // immutable, but not annotated so
        final ReadDecision decision;

        Read(ReadDecision decision) {
            this.decision = decision;
        }
    }

    enum Waited {
        BRIEFLY(10),
        BEYOND_GRACE(31),
        TOO_LONG(601);

        @SuppressWarnings("ImmutableEnumChecker") // immutable, but not annotated so
        final GatedPod pod;

        Waited(int seconds) {
            this.pod = WarmWorld.pod("p", 2, WarmWorld.anywhere(), seconds);
        }
    }

    enum Fit {
        ROOM(8, 8),
        FULL(8, 0),
        UNSUITED(1, 1);

        private final int gpus;
        private final int free;

        Fit(int gpus, int free) {
            this.gpus = gpus;
            this.free = free;
        }
    }

    /// What a node says about its order.
    enum Said {
        NOTHING_YET(0, Optional.empty()),
        NOTHING(60, Optional.empty()),
        ABSENT(60, Optional.of(Report.of(DatasetReplica.State.ABSENT))),
        WAITING(60, Optional.of(Report.of(DatasetReplica.State.WAITING))),
        QUEUED(60, Optional.of(Report.queued(0, 3))),
        FILLING(60, Optional.of(Report.filling(50, 50, "/cache"))),
        LOCAL(60, Optional.of(Report.local(100, "/cache"))),
        FAILED(60, Optional.of(Report.failed("disk full")));

        private final int seconds;

        @SuppressWarnings("ImmutableEnumChecker") // immutable, but not annotated so
        private final Optional<Report> report;

        Said(int seconds, Optional<Report> report) {
            this.seconds = seconds;
            this.report = report;
        }
    }

    /// An order.
    ///
    /// @param isCurrent whether its volume still has the dataset's name
    record Ordered(boolean isThere, boolean isWanted, boolean isCurrent, Said said) {
        static final Ordered MISSING = new Ordered(false, false, true, Said.NOTHING_YET);

        /// Returns the name of the state in docs/explanation/dataset-paths.md.
        String shown() {
            return isThere ? isWanted ? "Wanted" : "Unwanted" : "Missing";
        }

        private static Stream<Ordered> all() {
            return Stream.concat(
                    Stream.of(MISSING),
                    Arrays.stream(Said.values())
                            .flatMap(said -> IntStream.range(0, 4)
                                    .mapToObj(bits -> new Ordered(true, bits % 2 == 1, bits < 2, said))));
        }
    }

    record Spot(Fit fit, Ordered order) {
        boolean isLocal() {
            return order.isThere() && order.isCurrent() && order.said() == Said.LOCAL;
        }

        boolean isTroubled() {
            return order.isThere()
                    && order.isCurrent()
                    && (order.said() == Said.NOTHING || order.said() == Said.FAILED);
        }

        Spot with(Ordered now) {
            return new Spot(fit, now);
        }
    }

    static Stream<GateModel> all() {
        List<Spot> spots = Arrays.stream(Fit.values())
                .flatMap(fit -> Ordered.all().map(order -> new Spot(fit, order)))
                .toList();
        return Arrays.stream(Read.values())
                .flatMap(read -> Arrays.stream(Waited.values())
                        .flatMap(waited -> spots.stream()
                                .flatMap(a -> spots.stream()
                                        .flatMap(b -> IntStream.rangeClosed(1, 2)
                                                .mapToObj(spread ->
                                                        new GateModel(read, waited, spread, List.of(a, b)))))));
    }

    GateSettings settings() {
        return new GateSettings(PATIENCE, spread);
    }

    ObservedGates observed() {
        List<ClusterNode> nodes = new ArrayList<>();
        List<OrderedReplica> replicas = new ArrayList<>();
        for (int node = 0; node < NODES.size(); node++) {
            Spot spot = spots.get(node);
            String name = NODES.get(node);
            nodes.add(WarmWorld.node(name, spot.fit().gpus, spot.fit().free));
            if (spot.order().isThere()) {
                replicas.add(replica(name, spot.order()));
            }
        }
        return new ObservedGates(
                WarmWorld.NOW, nodes, replicas, WarmWorld.declared(WarmWorld.X), Map.of(waited.pod, read.decision));
    }

    private static OrderedReplica replica(String node, Ordered order) {
        return new OrderedReplica(
                "replica-" + node,
                WarmWorld.NOW.minusSeconds(order.said().seconds),
                new DatasetReplica.Order(
                        WarmWorld.X,
                        node,
                        order.isCurrent() ? WarmWorld.volume(WarmWorld.X) : EARLIER,
                        order.isWanted(),
                        Optional.empty()),
                order.said().report);
    }

    boolean isAny(Predicate<Spot> spot) {
        return spots.stream().anyMatch(spot);
    }

    /// Returns the nodes for which the pod waits: those with room, or if there are none all that suit it.
    List<Spot> possible() {
        Fit fit = isAny(spot -> spot.fit() == Fit.ROOM) ? Fit.ROOM : Fit.FULL;
        return spots.stream().filter(spot -> spot.fit() == fit).toList();
    }

    GateModel with(int node, Ordered order) {
        List<Spot> now = new ArrayList<>(spots);
        now.set(node, spots.get(node).with(order));
        return new GateModel(read, waited, spread, List.copyOf(now));
    }

    /// Returns what follows when the pod waits too long.
    GateModel late() {
        return new GateModel(read, Waited.TOO_LONG, spread, spots);
    }

    /// Returns what follows when nodes fill what is wanted of them.
    GateModel filled() {
        return saying(Ordered::isWanted, Said.LOCAL);
    }

    /// Returns what follows when nodes release what is not wanted of them any longer.
    GateModel released() {
        Set<Said> held = Set.of(Said.WAITING, Said.QUEUED, Said.FILLING, Said.FAILED);
        return saying(order -> !order.isWanted() && held.contains(order.said()), Said.ABSENT);
    }

    private GateModel saying(Predicate<Ordered> which, Said now) {
        return new GateModel(
                read,
                waited,
                spread,
                spots.stream()
                        .map(spot -> spot.order().isThere() && which.test(spot.order())
                                ? spot.with(new Ordered(
                                        true,
                                        spot.order().isWanted(),
                                        spot.order().isCurrent(),
                                        now))
                                : spot)
                        .toList());
    }
}
