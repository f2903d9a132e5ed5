package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.controller.ceph.call.NativeCalls;
import dev.siphon.controller.ceph.call.NativeHandle;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.csi.DriverException;
import java.util.List;
import java.util.function.Consumer;

/// A mount and its calls.
final class MountHandle implements NativeHandle {
    /// Maximum size of a client's data cache; the default is 200 MB.
    private static final long CACHE_BYTES = 32L << 20;

    /// Maximum number of inodes in a client's cache; the default is 16,384. Each takes about 4 kB of this
    /// process. The directories on the way of every call stay cached, because each lookup makes them the newest.
    private static final long CACHED_INODES = 512;

    private final Mount mount;
    private final NativeCalls calls;

    private MountHandle(Mount mount, NativeCalls calls) {
        this.mount = mount;
        this.calls = calls;
    }

    /// Creates a handle for calls in a mount; `name` is for threads.
    static MountHandle of(Mount mount, String name, ClusterAccess access, CallLimits limits, CephMetrics metrics) {
        return new MountHandle(mount, new NativeCalls(name, access.cluster(), limits, metrics));
    }

    /// Connects a client that only sends commands to MDS daemons; blocks in native code.
    static Mount connect(ClusterAccess access, CallLimits limits) {
        return new Mount(connect(access, limits, _ -> {}), "/");
    }

    /// Mounts a directory of a file system; blocks in native code. It never tries the root first: if the user's
    /// caps are limited to the directory, Ceph's log would report a denied client.
    ///
    /// @param session the uuid of its session
    /// @param ended the uuids of the sessions to end before
    /// @throws DriverException.NotFound (NOT_FOUND) if the directory does not exist yet
    static Mount mount(
            ClusterAccess access,
            String fileSystem,
            String directory,
            CallLimits limits,
            String session,
            List<String> ended) {
        Consumer<LibcephfsClient> mounted = client -> {
            client.select(fileSystem);
            ended.forEach(client::endSession);
            client.mount(directory, session);
        };
        return new Mount(connect(access, limits, mounted), directory);
    }

    private static LibcephfsClient connect(ClusterAccess access, CallLimits limits, Consumer<LibcephfsClient> then) {
        LibcephfsClient client = LibcephfsClient.create(access.user());
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
            // See RadosHandle.
            client.configure("log_max_recent", "1");
            client.configure("ms_async_op_threads", "1");
            client.configure("librados_thread_count", "1");
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
