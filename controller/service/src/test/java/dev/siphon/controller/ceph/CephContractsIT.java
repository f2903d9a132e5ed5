package dev.siphon.controller.ceph;

import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.volume.Clones;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.ClustersContract;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.FileTreeContract;
import dev.siphon.controller.volume.Subvolumes;
import dev.siphon.controller.volume.SubvolumesContract;
import dev.siphon.csi.dataset.Dataset;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/// Checks that the adapter keeps the contracts of the ports on a real cluster.
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CephContractsIT {
    private final CephAdapter adapter = CephLab.adapter();

    @BeforeAll
    void clonesTakeLongEnoughToBeSeen() {
        cloneDelay(Clones.TAKES);
    }

    @BeforeAll
    void datasetsHaveAPlace() {
        onFuse(fuse -> Files.createDirectories(fuse.at(Dataset.DIRECTORY)));
    }

    @AfterAll
    void close() {
        cloneDelay(Duration.ZERO);
        adapter.close();
    }

    private static void cloneDelay(Duration delay) {
        CephConnection connection =
                new CephConnection(CephLab.access(), CallLimits.DEFAULT, CephLab.PATIENT, CephLab.metrics());
        connection
                .call(CephCommand.change(CephCommand.Daemon.MON, "config set")
                        .with("who", "mgr")
                        .with("name", "mgr/volumes/snapshot_clone_delay")
                        .with("value", Long.toString(delay.toSeconds())))
                .orThrow();
        connection.close();
    }

    @Nested
    class OfClusters extends ClustersContract {
        OfClusters() {
            super("lab", CephLab.fileSystem());
        }

        @Override
        protected Clusters clusters() {
            return adapter.ports().clusters();
        }
    }

    @Nested
    class OfSubvolumes extends SubvolumesContract {
        OfSubvolumes() {
            super("lab", CephLab.fileSystem());
        }

        @Override
        protected Subvolumes subvolumes() {
            return adapter.ports().subvolumes();
        }

        @Override
        protected void clonesTake(Duration least) {
            cloneDelay(least);
        }
    }

    @Nested
    class OfFileTree extends FileTreeContract {
        OfFileTree() {
            super("lab", CephLab.fileSystem());
        }

        @Override
        protected FileTree files() {
            return adapter.ports().files();
        }

        @Override
        protected Subvolumes subvolumes() {
            return adapter.ports().subvolumes();
        }

        @Override
        protected void write(String path, String text) {
            onFuse(fuse -> Files.writeString(fuse.at(path), text));
        }
    }

    /// An action on files that another client mounts.
    @FunctionalInterface
    private interface OnFuse {
        void run(FuseMount fuse) throws IOException;
    }

    private static void onFuse(OnFuse action) {
        try (FuseMount fuse = FuseMount.mount()) {
            action.run(fuse);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
