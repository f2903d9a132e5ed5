package dev.siphon.controller.volume;

import java.time.Duration;
import org.junit.jupiter.api.Nested;

/// Checks that the fake keeps the contracts of Ceph.
final class InMemoryCephTest {
    private final InMemoryCeph ceph = new InMemoryCeph();
    private final CephPorts ports = ceph.ports();

    @Nested
    final class ForSubvolumes extends SubvolumesContract {
        ForSubvolumes() {
            super(InMemoryCeph.CLUSTER, InMemoryCeph.FILE_SYSTEM);
        }

        @Override
        protected Subvolumes subvolumes() {
            return ports.subvolumes();
        }

        @Override
        protected void clonesTake(Duration least) {
            // the fake counts queries, not time
        }
    }

    @Nested
    final class ForFileTree extends FileTreeContract {
        ForFileTree() {
            super(InMemoryCeph.CLUSTER, InMemoryCeph.FILE_SYSTEM);
        }

        @Override
        protected FileTree files() {
            return ports.files();
        }

        @Override
        protected Subvolumes subvolumes() {
            return ports.subvolumes();
        }

        @Override
        protected void write(String path, String text) {
            ceph.file(path, text);
        }
    }

    @Nested
    final class ForClusters extends ClustersContract {
        ForClusters() {
            super(InMemoryCeph.CLUSTER, InMemoryCeph.FILE_SYSTEM);
        }

        @Override
        protected Clusters clusters() {
            return ports.clusters();
        }
    }
}
