package dev.siphon.csi.server;

import io.grpc.netty.shaded.io.netty.channel.Channel;
import java.util.LinkedHashSet;
import java.util.Set;

/// So many connections at a time and no more: whoever opens them and says nothing must not take the process's files,
/// and must not keep others out either. Where all places are taken, the connection that has waited longest to be
/// admitted makes room for the next, so that who comes with its request at once gets through.
final class Places {
    private final int most;

    /// In the order in which they came; under this object's lock.
    private final LinkedHashSet<Channel> waiting = new LinkedHashSet<>();

    private final Set<Channel> admitted = new LinkedHashSet<>();

    Places(int most) {
        this.most = most;
    }

    /// Has a place for a new connection, until that is closed. On the thread of all connections.
    ///
    /// @return false if all places are those of requests under way
    synchronized boolean take(Channel connection) {
        if (waiting.size() + admitted.size() >= most) {
            if (waiting.isEmpty()) {
                return false;
            }
            Channel oldest = waiting.removeFirst();
            // not by its handlers: TLS would first have its farewell sent, which nobody may ever read
            oldest.unsafe().close(oldest.voidPromise());
        }
        waiting.add(connection);
        var _ = connection.closeFuture().addListener(_ -> leave(connection));
        return true;
    }

    /// Its request is there, and is to be answered: it makes no room any more.
    ///
    /// @return false if it has made room already
    synchronized boolean admit(Channel connection) {
        return waiting.remove(connection) && admitted.add(connection);
    }

    private synchronized void leave(Channel connection) {
        waiting.remove(connection);
        admitted.remove(connection);
    }
}
