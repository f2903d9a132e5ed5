package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Opens this controller's mounts of one file system: one for calls, one for looking at single files, one for
/// asking for capabilities, one for looking at datasets, one for what precedes removals, one for static volumes
/// at any path, and one for each thread that copies.
final class CephFsMounts {
    /// Where the mgr keeps all subvolumegroups.
    static final String VOLUMES = "/volumes";

    /// Where datasets may be.
    static final String DATASETS = Dataset.DIRECTORY;

    /// Copies at once per cluster; each has threads and memory of its own.
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

    /// @param access as it is when it is asked for: monitors may move
    CephFsMounts(Supplier<ClusterAccess> access, String fileSystem, CallLimits limits, ClientIdentity identity) {
        this.access = access;
        this.fileSystem = fileSystem;
        this.limits = limits;
        this.identity = identity;
    }

    /// What the names of threads that copy begin with.
    static String copiers(String cluster) {
        return "copy-" + cluster + "-";
    }

    /// The mount for calls, blocking in native code.
    Mount forCalls() {
        return open(CALLS, VOLUMES);
    }

    /// The mount for looking at single files, blocking in native code.
    Mount forLookUps() {
        return open(LOOK_UPS, VOLUMES);
    }

    /// The mount for [CapabilityProbes], blocking in native code.
    Mount forProbes() {
        return open(PROBES, VOLUMES);
    }

    /// The mount for looking at datasets, blocking in native code.
    Mount forDatasets() {
        return open(OF_DATASETS, DATASETS);
    }

    /// The mount for what precedes the removal of a volume, blocking in native code.
    Mount forRemovals() {
        return open(REMOVALS, VOLUMES);
    }

    /// The mount of the whole file system, for static volumes outside the other mounts, blocking in native code.
    /// Where the user's caps end at directories it is one in which nothing outside is found.
    Mount forStaticVolumes() {
        try {
            return open(OF_STATIC_VOLUMES, "/");
        } catch (DriverException.AccessDenied _) {
            return open(OF_STATIC_VOLUMES, VOLUMES);
        }
    }

    /// The mount for the thread that copies and asks for it, blocking in native code.
    Mount forCopy() {
        return open(Thread.currentThread().getName(), VOLUMES);
    }

    /// The first mount ends whatever sessions an earlier run of this controller has left; each later one that of
    /// its forerunner, should it hang. One at a time, so that the first ends no session of this run.
    private synchronized Mount open(String use, String directory) {
        Stream<String> left = takenOver ? Stream.of(use) : uses();
        Mount mount = MountHandle.mount(access.get(), fileSystem, directory, limits, session(use), sessions(left));
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
