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

    /// Maximum number of inodes in the cache of a client for calls about volumes; the default is 16,384. Each takes
    /// about 4 kB of this process. The directories that every call passes through stay cached.
    static final long FEW_INODES = 512;

    /// Maximum number for a client that walks trees: all directories above its current one count.
    static final long MANY_INODES = 4_096;

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
        return new Mount(connect(access, limits, FEW_INODES, _ -> {}), "/");
    }

    /// Mounts a directory of a file system; blocks in native code. It never tries the root first: if the user's
    /// caps are limited to the directory, Ceph's log would report a denied client.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the directory does not exist yet
    static Mount mount(ClusterAccess access, String fileSystem, String directory, CallLimits limits, Session session) {
        Consumer<LibcephfsClient> mounted = client -> {
            client.select(fileSystem);
            session.ended().forEach(client::endSession);
            client.mount(directory, session.uuid());
        };
        return new Mount(connect(access, limits, session.cachedInodes(), mounted), directory);
    }

    /// A session of a client.
    ///
    /// @param uuid identifies it to the MDS
    /// @param ended the uuids of the sessions to end before
    /// @param cachedInodes [#FEW_INODES] or [#MANY_INODES]
    record Session(String uuid, List<String> ended, long cachedInodes) {}

    private static LibcephfsClient connect(
            ClusterAccess access, CallLimits limits, long cachedInodes, Consumer<LibcephfsClient> then) {
        LibcephfsClient client = LibcephfsClient.create(access.user());
        try {
            access.clientOptions(limits).forEach(client::configure);
            client.configure("client_oc_size", Long.toString(CACHE_BYTES));
            client.configure("client_oc_max_dirty", Long.toString(CACHE_BYTES / 2));
            client.configure("client_cache_size", Long.toString(cachedInodes));
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
