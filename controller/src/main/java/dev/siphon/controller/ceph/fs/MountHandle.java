package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.controller.ceph.call.NativeCalls;
import dev.siphon.controller.ceph.call.NativeHandle;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.csi.DriverException;
import java.util.Optional;
import java.util.function.Consumer;

/// A mount and the calls in it.
final class MountHandle implements NativeHandle {
    /// What a client may keep in memory; the default is 200 MB.
    private static final long CACHE_BYTES = 32L << 20;

    private static final long CACHED_INODES = 4_096;

    private static final String ROOT = "/";

    /// Where the mgr keeps all subvolumegroups; mds caps may end here.
    private static final String VOLUMES = "/volumes";

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
        NativeCalls calls = new NativeCalls(name, access.cluster(), limits, metrics);
        return new MountHandle(
                fileSystem
                        .map(mounted -> mount(access, mounted, limits))
                        .orElseGet(() -> new Mount(connect(access, limits, _ -> {}), ROOT)),
                calls);
    }

    /// Mounts a file system, or as much of it as the user may use.
    static Mount mount(ClusterAccess access, String fileSystem, CallLimits limits) {
        try {
            return new Mount(connect(access, limits, client -> client.mount(fileSystem, ROOT)), ROOT);
        } catch (DriverException.AccessDenied _) {
            return new Mount(connect(access, limits, client -> client.mount(fileSystem, VOLUMES)), VOLUMES);
        }
    }

    private static Client connect(ClusterAccess access, CallLimits limits, Consumer<Client> then) {
        Client client = Client.create(access.user());
        try {
            client.configure("mon_host", access.monHost());
            client.configure("keyring", access.keyringFile().toString());
            client.configure(
                    "client_mount_timeout", Long.toString(limits.connect().toSeconds()));
            client.configure("client_oc_size", Long.toString(CACHE_BYTES));
            client.configure("client_oc_max_dirty", Long.toString(CACHE_BYTES / 2));
            client.configure("client_cache_size", Long.toString(CACHED_INODES));
            client.configure("log_to_stderr", "false");
            client.configure("err_to_stderr", "false");
            client.connect();
            then.accept(client);
            return client;
        } catch (DriverException e) {
            client.close();
            throw e;
        }
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
