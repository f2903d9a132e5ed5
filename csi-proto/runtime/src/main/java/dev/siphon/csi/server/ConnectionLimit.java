package dev.siphon.csi.server;

import io.grpc.netty.shaded.io.netty.channel.Channel;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/// Limits the connections of a server. At the limit, a new connection evicts the oldest idle one of the address
/// with the most idle ones. A peer that sends its request at once thus gets a reply, however many silent
/// connections others open.
///
/// The server reports which connections are idle. IPv6 addresses count by their /64, since one machine can use any
/// number of addresses in it.
final class ConnectionLimit {
    private static final int IPV6_NETWORK_BYTES = 8;

    private final int most;

    /// Idle connections with their peers, oldest first. The lock of this object guards all that follows.
    private final Map<Channel, Object> idle = new LinkedHashMap<>();

    private final Map<Object, Integer> idleOfPeer = new HashMap<>();
    private final Set<Channel> busy = new HashSet<>();

    ConnectionLimit(int most) {
        this.most = most;
    }

    /// Counts a new connection until it is closed, and evicts another if needed. Must run on the thread that all
    /// connections of the server share.
    ///
    /// @return false if the connection must be refused, because all others are busy
    synchronized boolean add(Channel connection) {
        if (idle.size() + busy.size() >= most) {
            if (idle.isEmpty()) {
                return false;
            }
            cutOff(oldestOfBusiestPeer());
        }
        addIdle(connection);
        var _ = connection.closeFuture().addListener(_ -> remove(connection));
        return true;
    }

    /// Closes a connection without its handlers: TLS would first send a close message that the peer may never read.
    /// Must run on the connection's thread.
    static void cutOff(Channel connection) {
        connection.unsafe().close(connection.voidPromise());
    }

    /// Marks a connection as busy: its request has arrived, so it cannot be evicted.
    ///
    /// @return false if it has already been evicted
    synchronized boolean busy(Channel connection) {
        return removeIdle(connection) && busy.add(connection);
    }

    /// Marks a connection as idle: its reply is ready, so it can be evicted.
    synchronized void idle(Channel connection) {
        if (busy.remove(connection)) {
            addIdle(connection);
        }
    }

    private Channel oldestOfBusiestPeer() {
        int largest = Collections.max(idleOfPeer.values());
        return idle.entrySet().stream()
                .filter(each -> idleOfPeer.getOrDefault(each.getValue(), 0) == largest)
                .findFirst()
                .orElseThrow()
                .getKey();
    }

    private void addIdle(Channel connection) {
        Object peer = peer(connection.remoteAddress());
        idle.put(connection, peer);
        idleOfPeer.merge(peer, 1, Integer::sum);
    }

    private boolean removeIdle(Channel connection) {
        Object peer = idle.remove(connection);
        if (peer == null) {
            return false;
        }
        idleOfPeer.computeIfPresent(peer, (_, count) -> count == 1 ? null : count - 1);
        return true;
    }

    private synchronized void remove(Channel connection) {
        removeIdle(connection);
        busy.remove(connection);
    }

    /// All peers on a unix socket count as one.
    private static Object peer(SocketAddress address) {
        if (!(address instanceof InetSocketAddress internet)) {
            return "";
        }
        InetAddress host = internet.getAddress();
        return host instanceof Inet6Address ? ByteBuffer.wrap(host.getAddress(), 0, IPV6_NETWORK_BYTES) : host;
    }
}
