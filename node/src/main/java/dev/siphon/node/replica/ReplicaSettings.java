package dev.siphon.node.replica;

import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import java.nio.file.Path;
import java.util.List;

/// What [Replicas] work with.
///
/// @param state a directory of the driver's own, absolute and without symbolic links, for the trees; it must be
///     in a mount that outlives the driver's container for attachments to do so
/// @param caches one per disk; without any, datasets are read from CephFS
/// @param placement chooses among them
/// @param near what is done to be near pods' devices
/// @param erofs what mounts the images
public record ReplicaSettings(
        Path state,
        List<CacheDirectoryLimits> caches,
        ReplicaPlacement placement,
        ReplicaPolicy pace,
        GpuProximity near,
        ErofsSelection erofs) {
    public ReplicaSettings {
        caches = List.copyOf(caches);
    }
}
