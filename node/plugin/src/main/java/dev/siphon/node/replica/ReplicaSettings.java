package dev.siphon.node.replica;

import dev.siphon.node.replica.cache.CacheDirectoryLimits;
import java.nio.file.Path;
import java.util.List;

/// The settings of [Replicas].
///
/// @param state the driver's directory for trees, absolute and without symbolic links. Attachments outlive the
///     driver's container only if this directory's mount does.
/// @param caches one per disk; if empty, datasets are read from CephFS
/// @param placement chooses among the cache directories
/// @param near limits the effort to be near pods' devices
/// @param erofs chooses the reader of images
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
