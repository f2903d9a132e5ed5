package dev.siphon.node.mount;

import dev.siphon.node.topology.CacheRanking;
import java.nio.file.Path;
import java.util.List;

/// Which cache directories a dataset should be read from, as known before it is shown.
public sealed interface CachePreference {
    /// The pods are not known yet: NodeStageVolume shows the common tree, and NodePublishVolume chooses for each pod.
    /// Until then, the first fill waits.
    record PodUnknown() implements CachePreference {}

    /// A pod to which the directories are equally good, or a volume that is no dataset.
    record AnyDirectory() implements CachePreference {}

    /// A pod with devices.
    ///
    /// @param ranking the directories, by their distance to these devices
    record NearDevices(CacheRanking ranking) implements CachePreference {}

    /// Returns the nearest directories; empty if the distance does not matter.
    default List<Path> nearest() {
        return switch (this) {
            case PodUnknown _, AnyDirectory _ -> List.of();
            case NearDevices(var ranking) -> ranking.nearest();
        };
    }
}
