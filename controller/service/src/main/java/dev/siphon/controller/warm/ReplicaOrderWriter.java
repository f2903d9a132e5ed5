package dev.siphon.controller.warm;

import dev.siphon.controller.dataset.PerObjectRetries;
import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Takes the steps of [OrderChange]: writes orders for nodes, answers their questions, and removes obsolete orders.
/// Each step is idempotent, so the next leader can continue.
final class ReplicaOrderWriter implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ReplicaOrderWriter.class);

    /// Number of parallel answers; each waits for Ceph.
    private static final int AT_ONCE = 8;

    /// Maximum length of an object's name (RFC 1123, "DNS subdomain"), less the suffix.
    private static final int LONGEST = 240;

    private static final int DIGITS = 8;

    private final WarmupCluster cluster;
    private final BiFunction<DatasetReplica.Question, DatasetReplica.Order, DatasetAccess.Answer> answers;
    private final PerObjectRetries attempts = new PerObjectRetries();

    /// Questions being answered, and answered questions whose answer the cache does not show yet.
    private final Set<ReplicaQuestion> underWay = ConcurrentHashMap.newKeySet();

    private final Set<ReplicaQuestion> answered = ConcurrentHashMap.newKeySet();

    /// Errors of the last round, by object name.
    private Map<String, String> refusals = Map.of();

    private final ExecutorService workers = Executors.newFixedThreadPool(
            AT_ONCE, Thread.ofPlatform().daemon().name("dataset-replicas-", 0).factory());

    /// @param answers answers a node's question about an order
    ReplicaOrderWriter(
            WarmupCluster cluster,
            BiFunction<DatasetReplica.Question, DatasetReplica.Order, DatasetAccess.Answer> answers) {
        this.cluster = cluster;
        this.answers = answers;
    }

    @Override
    public void close() {
        workers.shutdownNow();
    }

    /// Returns the object's name for a dataset on a node; its suffix makes it unique.
    static String name(DatasetOnNode place) {
        String both = place.dataset() + "." + place.node();
        String begin = both.substring(0, Math.min(both.length(), LONGEST)).replaceFirst("[.-]+$", "");
        String unlike = place.dataset() + "\n" + place.node();
        return begin + "-"
                + Digest.of(ByteBuffer.wrap(unlike.getBytes(StandardCharsets.UTF_8)))
                        .hex()
                        .substring(0, DIGITS);
    }

    /// Takes the steps. A failure for one order blocks neither other orders nor pods. It is retried as
    /// [PerObjectRetries] says, and logged once.
    ///
    /// @param replicas all orders
    /// @return the first failed request, if any
    Optional<DriverException.BackendUnavailable> take(List<OrderChange> changes, List<OrderedReplica> replicas) {
        answered.retainAll(replicas.stream()
                .flatMap(
                        replica -> replica.question().map(asked -> new ReplicaQuestion(replica.name(), asked)).stream())
                .collect(Collectors.toSet()));
        Map<String, String> refused = new ConcurrentHashMap<>();
        Optional<DriverException.BackendUnavailable> silent = attempts.take(
                changes.stream().map(change -> step(change, refused)).toList());
        refusals = refused;
        return silent;
    }

    private PerObjectRetries.Step step(OrderChange change, Map<String, String> refused) {
        return switch (change) {
            case OrderChange.Write(var place, var volume, var wanted) ->
                step(
                        name(place),
                        place,
                        refused,
                        () -> cluster.writeOrder(
                                name(place),
                                new DatasetReplica.Order(
                                        place.dataset(), place.node(), volume, wanted, Optional.empty())));
            case OrderChange.Want(var replica, var wanted) ->
                step(replica, refused, () -> cluster.setWanted(replica, wanted));
            case OrderChange.Answer(var replica, var question) ->
                step(replica, refused, () -> request(replica, new ReplicaQuestion(replica.name(), question)));
            case OrderChange.Forget(var replica) -> step(replica, refused, () -> cluster.forget(replica));
        };
    }

    private PerObjectRetries.Step step(OrderedReplica replica, Map<String, String> refused, Runnable act) {
        return step(replica.name(), List.of(replica.order(), replica.state()), refused, act);
    }

    private PerObjectRetries.Step step(String name, Object version, Map<String, String> refused, Runnable act) {
        return new PerObjectRetries.Step(name, version, act, notThis -> {
            String why = notThis.getMessage();
            refused.put(name, why);
            if (!why.equals(refusals.get(name))) {
                LOG.warn("DatasetReplica {} stays as it is: {}", name, why);
            }
        });
    }

    /// A question of a node.
    ///
    /// @param replica the object's name
    private record ReplicaQuestion(String replica, DatasetReplica.Question question) {}

    private void request(OrderedReplica replica, ReplicaQuestion asked) {
        if (answered.contains(asked) || !underWay.add(asked)) {
            return;
        }
        try {
            workers.execute(() -> answer(replica, asked));
        } catch (RejectedExecutionException _) {
            // the process ends; the next leader answers
        }
    }

    private void answer(OrderedReplica replica, ReplicaQuestion asked) {
        try {
            cluster.answer(replica, answers.apply(asked.question(), replica.order()));
            answered.add(asked);
        } catch (DriverException notNow) {
            LOG.warn("DatasetReplica {} is not answered: {}", replica.name(), notNow.getMessage());
        } catch (RuntimeException unforeseen) {
            LOG.error("DatasetReplica {} is not answered", replica.name(), unforeseen);
        } finally {
            underWay.remove(asked);
        }
    }
}
