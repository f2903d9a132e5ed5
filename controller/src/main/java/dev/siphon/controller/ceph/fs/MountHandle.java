package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.controller.ceph.call.NativeCalls;
import dev.siphon.controller.ceph.call.NativeHandle;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import java.util.Optional;

/// A mount and the calls in it.
final class MountHandle implements NativeHandle {
    /// What a client may keep in memory; the default is 200 MB.
    private static final long CACHE_BYTES = 32L << 20;

    private static final long CACHED_INODES = 4_096;

    private final Mount mount;
    private final NativeCalls calls;

    private MountHandle(Mount mount, NativeCalls calls) {
        this.mount = mount;
        this.calls = calls;
    }

    /// Connects, blocking in native code.
    ///
    /// @param fileSystem what to mount; empty for a client that only sends commands to MDS daemons
    static MountHandle connect(
            ClusterAccess access, Optional<String> fileSystem, String name, CallLimits limits, CephMetrics metrics) {
        Mount mount = connect(access, fileSystem, limits);
        return new MountHandle(mount, new NativeCalls(name, access.cluster(), limits, metrics));
    }

    /// As above, without threads.
    static Mount connect(ClusterAccess access, Optional<String> fileSystem, CallLimits limits) {
        Mount mount = Mount.create(Libcephfs.load(), access.user());
        mount.configure("mon_host", access.monHost());
        mount.configure("keyring", access.keyringFile().toString());
        mount.configure("client_mount_timeout", Long.toString(limits.connect().toSeconds()));
        mount.configure("client_oc_size", Long.toString(CACHE_BYTES));
        mount.configure("client_oc_max_dirty", Long.toString(CACHE_BYTES / 2));
        mount.configure("client_cache_size", Long.toString(CACHED_INODES));
        mount.configure("log_to_stderr", "false");
        mount.configure("err_to_stderr", "false");
        mount.init();
        fileSystem.ifPresent(mount::mount);
        return mount;
    }

    Mount mount() {
        return mount;
    }

    @Override
    public NativeCalls calls() {
        return calls;
    }

    @Override
    public void close() {
        mount.close();
    }
}
