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

/// The most connections that a server has at a time. Beyond it a new connection evicts an idle one: the oldest of the
/// address that has the most. So a peer that sends its request at once is answered, however many connections others
/// open and leave silent.
///
/// The server says which are idle. IPv6 addresses count by their /64, since one machine has as many of these as it
/// likes.
final class ConnectionLimit {
    private static final int IPV6_NETWORK_BYTES = 8;

    private final int most;

    /// With their peers, the oldest first; this and what follows under this object's lock.
    private final Map<Channel, Object> idle = new LinkedHashMap<>();

    private final Map<Object, Integer> idleOfPeer = new HashMap<>();
    private final Set<Channel> busy = new HashSet<>();

    ConnectionLimit(int most) {
        this.most = most;
    }

    /// Counts a new connection until it is closed, and evicts another for it if need be. To be called on the thread
    /// of all the server's connections.
    ///
    /// @return false if it must be refused, as all others are busy
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

    /// Closes it without its handlers: TLS would first send its farewell, which the peer may never read. To be called
    /// on the connection's thread.
    static void cutOff(Channel connection) {
        connection.unsafe().close(connection.voidPromise());
    }

    /// Its request has arrived and is being answered: it cannot be evicted.
    ///
    /// @return false if it has been evicted already
    synchronized boolean busy(Channel connection) {
        return removeIdle(connection) && busy.add(connection);
    }

    /// Its answer is ready: it can be evicted.
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
