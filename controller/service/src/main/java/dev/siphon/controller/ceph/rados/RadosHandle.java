package dev.siphon.controller.ceph.rados;

import com.ceph.rados.Rados;
import com.ceph.rados.exceptions.RadosException;
import com.sun.jna.Pointer;
import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.controller.ceph.call.CephMetrics;
import dev.siphon.controller.ceph.call.NativeCalls;
import dev.siphon.controller.ceph.call.NativeHandle;
import dev.siphon.csi.DriverException;
import java.util.Map;

/// One `rados_t` and its calls.
final class RadosHandle implements NativeHandle {
    private final Cluster rados;
    private final Librados librados;
    private final NativeCalls calls;

    private RadosHandle(Cluster rados, Librados librados, NativeCalls calls) {
        this.rados = rados;
        this.librados = librados;
        this.calls = calls;
    }

    /// Connects; blocks in native code for up to about ten times `limits.connect()`.
    ///
    /// @param number of the handle within its cluster, for thread names
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if no mon replies
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the key is wrong
    static RadosHandle connect(ClusterAccess access, int number, CallLimits limits, CephMetrics metrics) {
        Map<String, String> options = access.clientOptions(limits);
        Librados librados = Librados.load();
        Cluster rados = new Cluster(access.user());
        String what = "connecting to cluster " + access.cluster();
        try {
            for (Map.Entry<String, String> option : options.entrySet()) {
                rados.confSet(option.getKey(), option.getValue());
            }
            rados.connect();
        } catch (RadosException e) {
            rados.shutDown();
            throw CephErrno.failure(e.getReturnValue(), what, String.valueOf(e.getMessage()));
        }
        String name = "ceph-" + access.cluster() + "-" + number;
        return new RadosHandle(rados, librados, new NativeCalls(name, access.cluster(), limits, metrics));
    }

    @Override
    public NativeCalls calls() {
        return calls;
    }

    @Override
    public void close() {
        rados.shutDown();
    }

    /// Sends a command and blocks until the reply.
    CommandReply send(CephCommand command, String what) {
        return librados.command(rados.address(), command, what);
    }

    /// Exposes the pointer, which the library hides from all but subclasses.
    private static final class Cluster extends Rados {
        Cluster(String user) {
            super(user);
            if (clusterPtr == null) {
                throw new DriverException.BackendUnavailable("librados cannot make a handle for user " + user);
            }
        }

        long address() {
            return Pointer.nativeValue(clusterPtr);
        }
    }
}
