package dev.siphon.controller.monitor;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.DriverException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class MonitorFollowerTest {
    private final Rook rook = new Rook();
    private final Clusters clusters = new Clusters();
    private final Nodes nodes = new Nodes();

    private MonitorFollower follower() {
        return new MonitorFollower(Map.of("ceph", rook), clusters, Optional.of(nodes));
    }

    @Test
    void movedMonitorsAreConnectedToAndToldToNodes() {
        MonitorFollower follower = follower();
        follower.follow();
        assertEquals(Map.of("ceph", List.of("10.0.0.1"), "other", List.of("10.9.9.9")), nodes.told);

        rook.monitors = List.of("10.0.0.2");
        follower.follow();

        assertEquals(List.of("10.0.0.2"), clusters.known.get("ceph"));
        assertEquals(Map.of("ceph", List.of("10.0.0.2"), "other", List.of("10.9.9.9")), nodes.told);
        assertEquals(2, nodes.published);
    }

    @Test
    void whatHasNotMovedIsPublishedOnce() {
        MonitorFollower follower = follower();
        follower.follow();
        nodes.told = Map.of("ceph", List.of("10.0.0.1"), "other", List.of("10.9.9.9"), "gone", List.of("10.7.7.7"));
        follower.follow();
        assertEquals(1, nodes.published);
        assertEquals(1, clusters.moves);
    }

    @Test
    void whatSomebodyRemovedIsPublishedAgain() {
        MonitorFollower follower = follower();
        follower.follow();
        nodes.told = Map.of();
        follower.follow();
        assertEquals(List.of("10.0.0.1"), nodes.told.get("ceph"));
    }

    @Test
    void whileRookSaysNothingTheMonitorsKnownBeforeServe() {
        MonitorFollower follower = follower();
        follower.follow();
        rook.isSilent = true;
        follower.follow();
        assertEquals(List.of("10.0.0.1"), clusters.known.get("ceph"));
        assertEquals(List.of("10.0.0.1"), nodes.told.get("ceph"));
    }

    @Test
    void aClusterOfWhichNoMonitorIsKnownIsNotPublished() {
        rook.isSilent = true;
        follower().follow();
        assertEquals(Map.of("other", List.of("10.9.9.9")), nodes.told);
        assertEquals(Map.of(), MonitorFollower.readMonitors(Map.of("ceph", rook)));
    }

    @Test
    void nodesThatCannotBeToldNowAreToldLater() {
        MonitorFollower follower = follower();
        nodes.isSilent = true;
        follower.follow();
        assertEquals(Map.of(), nodes.told);
        nodes.isSilent = false;
        follower.follow();
        assertEquals(List.of("10.0.0.1"), nodes.told.get("ceph"));
    }

    @Test
    void aSourceIsFoundByItsCluster() {
        assertEquals(Optional.of(rook), follower().source("ceph"));
        assertEquals(Optional.empty(), follower().source("other"));
    }

    private static final class Rook implements MonitorSource {
        private List<String> monitors = List.of("10.0.0.1");
        private boolean isSilent;

        @Override
        public List<String> read() {
            if (isSilent) {
                throw new DriverException.BackendUnavailable("silent");
            }
            return monitors;
        }

        @Override
        public String where() {
            return "a ConfigMap";
        }
    }

    private static final class Clusters implements MonitorFollower.Connections {
        private final SortedMap<String, List<String>> known = new TreeMap<>(Map.of("other", List.of("10.9.9.9")));
        private int moves;

        @Override
        public SortedMap<String, List<String>> monitors() {
            return new TreeMap<>(known);
        }

        @Override
        public void moved(String cluster, List<String> monitors) {
            known.put(cluster, monitors);
            moves++;
        }
    }

    private static final class Nodes implements MonitorStore {
        private Map<String, List<String>> told = Map.of();
        private boolean isSilent;
        private int published;

        @Override
        public Map<String, List<String>> last() {
            return told;
        }

        @Override
        public void publish(Map<String, List<String>> monitors) {
            if (isSilent) {
                throw new DriverException.BackendUnavailable("silent");
            }
            told = new TreeMap<>(monitors);
            published++;
        }
    }
}
