package dev.siphon.node.warm;

import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.node.mount.HeldImages;
import dev.siphon.node.replica.Replicas;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;

/// Fills what the controller wants of this node, each order on a thread of its own, and says how far it is.
/// Closing leaves everything as it is: the next run is told of the same orders.
public final class Warmer implements ReplicaOrders.Follower, AutoCloseable {
    private final ReplicaOrders orders;
    private final HeldImages images;
    private final Replicas replicas;

    /// By the names of the orders' objects; under this object's lock.
    private final Map<String, Keeper> keepers = new HashMap<>();

    private Optional<ReplicaOrders.Following> following = Optional.empty();
    private boolean closed;

    public Warmer(ReplicaOrders orders, HeldImages images, Replicas replicas) {
        this.orders = orders;
        this.images = images;
        this.replicas = replicas;
    }

    /// Begins.
    public Warmer start() {
        following = Optional.of(orders.follow(this));
        return this;
    }

    @Override
    public synchronized void all(Map<String, DatasetReplica.Order> now) {
        for (String name : new HashSet<>(keepers.keySet())) {
            if (!now.containsKey(name)) {
                gone(name);
            }
        }
        now.forEach(this::changed);
    }

    @Override
    public synchronized void changed(String name, DatasetReplica.Order order) {
        if (!closed) {
            keepers.computeIfAbsent(name, this::begin).change(order);
        }
    }

    private Keeper begin(String name) {
        Keeper keeper = new Keeper(name, orders, images, replicas);
        var _ = Thread.ofVirtual().name("warm-" + name).start(keeper);
        return keeper;
    }

    /// The dataset that is declared under that name, if the controller has ordered it for this node.
    public synchronized Optional<VolumeId.Dataset> ordered(String dataset) {
        return keepers.values().stream()
                .flatMap(keeper -> keeper.order().stream())
                .filter(order -> order.dataset().equals(dataset))
                .map(DatasetReplica.Order::volume)
                .findFirst();
    }

    @Override
    public synchronized void gone(String name) {
        Optional.ofNullable(keepers.remove(name)).ifPresent(Keeper::end);
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            keepers.values().forEach(Keeper::leave);
            keepers.clear();
        }
        following.ifPresent(ReplicaOrders.Following::close);
    }
}
