package dev.siphon.node;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.node.mount.MountedDatasets;
import dev.siphon.node.replica.DatasetTrees;
import dev.siphon.node.replica.ErofsSelection;
import dev.siphon.node.replica.GpuProximity;
import dev.siphon.node.replica.ReplicaPlacement;
import dev.siphon.node.replica.ReplicaPolicy;
import dev.siphon.node.replica.ReplicaSettings;
import dev.siphon.node.replica.Replicas;
import java.nio.file.Path;
import java.util.List;

/// Creates a node's datasets without a cache directory.
public final class RealDatasets {
    private RealDatasets() {}

    /// Returns the datasets of a node with that state directory; they end with the test's process.
    public static MountedDatasets in(Path state) {
        Path trees = state.resolve("datasets");
        return new DatasetTrees(
                Replicas.start(
                        new ReplicaSettings(
                                trees,
                                List.of(),
                                ReplicaPlacement.mostFree(),
                                ReplicaPolicy.usual(),
                                GpuProximity.UNKNOWN,
                                ErofsSelection.ofThisNode()),
                        new BackgroundTasks(),
                        _ -> {}),
                trees,
                false);
    }
}
