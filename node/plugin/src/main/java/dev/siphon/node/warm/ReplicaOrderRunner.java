package dev.siphon.node.warm;

import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.node.mount.PinnedImages;
import dev.siphon.node.replica.FillTurns;
import dev.siphon.node.replica.Replicas;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;

/// Carries out the controller's replica orders for this node, each on its own thread, and reports their progress.
/// Closing releases nothing; the next run receives the same orders.
public final class ReplicaOrderRunner implements ReplicaOrders.Follower, AutoCloseable {
    private final ReplicaOrders orders;
    private final PinnedImages images;
    private final Replicas replicas;
    private final FillTurns turns;

    /// The workers by the names of the orders' objects; guarded by this object's lock.
    private final Map<String, ReplicaOrderWorker> keepers = new HashMap<>();

    private Optional<ReplicaOrders.Following> following = Optional.empty();
    private boolean closed;

    public ReplicaOrderRunner(ReplicaOrders orders, PinnedImages images, Replicas replicas, FillTurns turns) {
        this.turns = turns;
        this.orders = orders;
        this.images = images;
        this.replicas = replicas;
    }

    /// Starts to follow the orders.
    public ReplicaOrderRunner start() {
        turns.onChange(this::look);
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
            turns.told(name, order.volume().digest(), order.turn());
            keepers.computeIfAbsent(name, _ -> begin(name, order)).change(order);
        }
    }

    /// Has the fills that no pod waits for reported at once, too.
    private synchronized void look() {
        keepers.values().forEach(ReplicaOrderWorker::look);
    }

    private ReplicaOrderWorker begin(String name, DatasetReplica.Order order) {
        ReplicaOrderWorker worker = new ReplicaOrderWorker(name, order, orders, images, replicas);
        var _ = Thread.ofVirtual().name("warm-" + name).start(worker);
        return worker;
    }

    /// Returns the dataset declared as `dataset`, if the controller has ordered it for this node.
    public synchronized Optional<VolumeId.DatasetVolume> ordered(String dataset) {
        return keepers.values().stream()
                .flatMap(worker -> worker.order().stream())
                .filter(order -> order.dataset().equals(dataset))
                .map(DatasetReplica.Order::volume)
                .findFirst();
    }

    @Override
    public synchronized void gone(String name) {
        turns.withdrawn(name);
        Optional.ofNullable(keepers.remove(name)).ifPresent(ReplicaOrderWorker::end);
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            keepers.values().forEach(ReplicaOrderWorker::abandon);
            keepers.clear();
        }
        following.ifPresent(ReplicaOrders.Following::close);
    }
}
