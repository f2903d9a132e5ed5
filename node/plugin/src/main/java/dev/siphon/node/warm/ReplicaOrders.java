package dev.siphon.node.warm;

import dev.siphon.csi.dataset.DatasetReplica;
import java.util.Map;

/// Port to the controller's replica orders for this node.
public interface ReplicaOrders {
    /// Receives orders, by the names of their objects. Must not block.
    interface Follower {
        /// Called with all existing orders.
        void all(Map<String, DatasetReplica.Order> orders);

        /// Called when an order is new or has changed.
        void changed(String name, DatasetReplica.Order order);

        /// Called when an order is deleted.
        void gone(String name);
    }

    /// Reports every order to `follower` until the result is closed. Errors are retried.
    Following follow(Follower follower);

    /// A subscription that lasts until it is closed.
    interface Following extends AutoCloseable {
        @Override
        void close();
    }

    /// Reports the state of an order; does nothing if the order is deleted.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if the report fails
    void report(String name, DatasetReplica.Report report);
}
