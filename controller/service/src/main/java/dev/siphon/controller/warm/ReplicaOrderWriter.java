package dev.siphon.controller.warm;

import dev.siphon.controller.dataset.PerObjectRetries;
import dev.siphon.controller.warm.OrderedReplica.DatasetOnNode;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.dataset.DatasetAccess;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
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

/// Writes orders for nodes, answers their questions, and removes obsolete orders. Each step is idempotent, so the
/// next leader can continue.
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

    /// Brings orders in step with what is wanted. A failure for one order blocks neither other orders nor pods.
    /// It is retried as [PerObjectRetries] says, and logged once.
    ///
    /// @param nodes names of all nodes
    /// @return the first failed request, if any
    Optional<DriverException.BackendUnavailable> keep(
            Set<DatasetOnNode> wanted, List<OrderedReplica> replicas, Map<String, Shared> declared, Set<String> nodes) {
        Set<DatasetOnNode> there = replicas.stream().map(OrderedReplica::place).collect(Collectors.toSet());
        answered.retainAll(replicas.stream()
                .flatMap(replica -> question(replica).stream().map(asked -> new ReplicaQuestion(replica, asked)))
                .collect(Collectors.toSet()));
        Map<String, String> refused = new ConcurrentHashMap<>();
        List<PerObjectRetries.Step> steps = new ArrayList<>();
        for (OrderedReplica replica : replicas) {
            steps.add(step(
                    replica.name(),
                    List.of(replica.order(), replica.state()),
                    refused,
                    () -> keepOrDelete(replica, wanted, declared, nodes)));
        }
        for (DatasetOnNode place : wanted) {
            if (!there.contains(place)) {
                Optional.ofNullable(declared.get(place.dataset()))
                        .ifPresent(shared ->
                                steps.add(step(name(place), place, refused, () -> writeOrder(place, shared))));
            }
        }
        Optional<DriverException.BackendUnavailable> silent = attempts.take(steps);
        refusals = refused;
        return silent;
    }

    private void writeOrder(DatasetOnNode place, Shared shared) {
        cluster.writeOrder(
                name(place),
                new DatasetReplica.Order(place.dataset(), place.node(), shared.volume(), true, Optional.empty()));
    }

    /// Updates, answers or removes one order. If a removed one is still wanted, the next round writes it again.
    private void keepOrDelete(
            OrderedReplica replica, Set<DatasetOnNode> wanted, Map<String, Shared> declared, Set<String> nodes) {
        boolean isWanted = wanted.contains(replica.place());
        if (!replica.isOf(declared) || !nodes.contains(replica.order().node())) {
            cluster.forget(replica);
        } else if (isWanted != replica.order().wanted()) {
            cluster.setWanted(replica, isWanted);
        } else if (isWanted) {
            answer(replica);
        } else if (replica.state() == DatasetReplica.State.ABSENT) {
            cluster.forget(replica);
        }
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
    private record ReplicaQuestion(String replica, DatasetReplica.Question question) {
        ReplicaQuestion(OrderedReplica replica, DatasetReplica.Question question) {
            this(replica.name(), question);
        }
    }

    /// Returns the node's question if it has no answer yet.
    private static Optional<DatasetReplica.Question> question(OrderedReplica replica) {
        return replica.report()
                .flatMap(DatasetReplica.Report::question)
                .filter(question -> replica.order().access().stream()
                        .noneMatch(answer -> answer.request().equals(question.request())));
    }

    private void answer(OrderedReplica replica) {
        Optional<ReplicaQuestion> open = question(replica)
                .map(question -> new ReplicaQuestion(replica, question))
                .filter(asked -> !answered.contains(asked));
        open.filter(underWay::add).ifPresent(asked -> {
            try {
                workers.execute(() -> answer(replica, asked));
            } catch (RejectedExecutionException _) {
                // the process ends; the next leader answers
            }
        });
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
