package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Opens this controller's mounts of one file system. There is one each for calls, lookups of single files,
/// capability probes, datasets, calls before removals, and static volumes at any path. Each copying thread has
/// its own.
final class CephFsMounts {
    /// The mgr's directory of all subvolumegroups.
    static final String VOLUMES = "/volumes";

    /// The directory that holds all datasets.
    static final String DATASETS = Dataset.DIRECTORY;

    /// Concurrent copies per cluster; each has its own threads and memory.
    static final int COPIES = 2;

    private static final String CALLS = "calls";
    private static final String LOOK_UPS = "lookups";
    private static final String OF_DATASETS = "datasets";
    private static final String REMOVALS = "removals";
    private static final String OF_STATIC_VOLUMES = "static";
    private static final String PROBES = "probes";

    private final Supplier<ClusterAccess> access;
    private final String fileSystem;
    private final CallLimits limits;
    private final ClientIdentity identity;
    private boolean takenOver;

    /// @param access returns the current access: monitors may move
    CephFsMounts(Supplier<ClusterAccess> access, String fileSystem, CallLimits limits, ClientIdentity identity) {
        this.access = access;
        this.fileSystem = fileSystem;
        this.limits = limits;
        this.identity = identity;
    }

    /// Returns the prefix of the names of copying threads.
    static String copiers(String cluster) {
        return "copy-" + cluster + "-";
    }

    /// Opens the mount for calls; blocks in native code.
    Mount forCalls() {
        return open(CALLS, VOLUMES, MountHandle.FEW_INODES);
    }

    /// Opens the mount for lookups of single files; blocks in native code.
    Mount forLookUps() {
        return open(LOOK_UPS, VOLUMES, MountHandle.FEW_INODES);
    }

    /// Opens the mount for [CapabilityProbes]; blocks in native code.
    Mount forProbes() {
        return open(PROBES, VOLUMES, MountHandle.FEW_INODES);
    }

    /// Opens the mount for datasets; blocks in native code.
    Mount forDatasets() {
        return open(OF_DATASETS, DATASETS, MountHandle.MANY_INODES);
    }

    /// Opens the mount for calls before a volume's removal; blocks in native code.
    Mount forRemovals() {
        return open(REMOVALS, VOLUMES, MountHandle.MANY_INODES);
    }

    /// Opens the mount of the whole file system, for static volumes outside the other mounts; blocks in native
    /// code. If the user's caps are limited to directories, mounts /volumes: all else is out of reach.
    Mount forStaticVolumes() {
        try {
            return open(OF_STATIC_VOLUMES, "/", MountHandle.MANY_INODES);
        } catch (DriverException.AccessDenied _) {
            return open(OF_STATIC_VOLUMES, VOLUMES, MountHandle.MANY_INODES);
        }
    }

    /// Opens the mount for the copying thread that calls this; blocks in native code.
    Mount forCopy() {
        return open(Thread.currentThread().getName(), VOLUMES, MountHandle.MANY_INODES);
    }

    /// Opens a mount. The first ends all sessions that an earlier run of this controller left; each later one
    /// ends the session of its predecessor, which may hang. One opens at a time, so the first ends no session of
    /// this run.
    private synchronized Mount open(String use, String directory, long cachedInodes) {
        Stream<String> left = takenOver ? Stream.of(use) : uses();
        MountHandle.Session session = new MountHandle.Session(session(use), sessions(left), cachedInodes);
        Mount mount = MountHandle.mount(access.get(), fileSystem, directory, limits, session);
        takenOver = true;
        return mount;
    }

    private Stream<String> uses() {
        return Stream.concat(
                Stream.of(CALLS, LOOK_UPS, OF_DATASETS, REMOVALS, OF_STATIC_VOLUMES, PROBES),
                IntStream.rangeClosed(1, COPIES)
                        .mapToObj(number -> copiers(access.get().cluster()) + number));
    }

    private List<String> sessions(Stream<String> uses) {
        return uses.map(this::session).toList();
    }

    private String session(String use) {
        return identity.session(access.get(), use);
    }
}
