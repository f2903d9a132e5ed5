package dev.siphon.node.warm;

import dev.siphon.csi.dataset.DatasetReplica;
import java.util.Map;

/// Port: what the controller wants of this node.
public interface ReplicaOrders {
    /// Is told of orders, by the names of their objects. It must not block.
    interface Follower {
        /// These there are, and no others.
        void all(Map<String, DatasetReplica.Order> orders);

        /// This one is new, or has changed.
        void changed(String name, DatasetReplica.Order order);

        /// This one is no more.
        void gone(String name);
    }

    /// Tells of every order until it is closed. What goes wrong is tried again.
    Following follow(Follower follower);

    /// What goes on until it is closed.
    interface Following extends AutoCloseable {
        @Override
        void close();
    }

    /// Says what has become of an order; of one that is gone nothing is said.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if that cannot be said now
    void report(String name, DatasetReplica.Report report);
}
