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

/// Tells nodes what is wanted of them, answers what they ask, and removes what is no more. Each step may be
/// repeated, and whoever leads next goes on with it.
final class ReplicaOrderWriter implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ReplicaOrderWriter.class);

    /// How many are answered at once: each waits for Ceph.
    private static final int AT_ONCE = 8;

    /// What an object's name may have (RFC 1123, "DNS subdomain"), less what is put behind it.
    private static final int LONGEST = 240;

    private static final int DIGITS = 8;

    private final WarmupCluster cluster;
    private final BiFunction<DatasetReplica.Question, DatasetReplica.Order, DatasetAccess.Answer> answers;
    private final PerObjectRetries attempts = new PerObjectRetries();

    /// Questions that are being answered, and those that were, of which the answer is not seen yet.
    private final Set<ReplicaQuestion> underWay = ConcurrentHashMap.newKeySet();

    private final Set<ReplicaQuestion> answered = ConcurrentHashMap.newKeySet();

    /// Why what could not be done to an object could not, by its name; of the last look.
    private Map<String, String> refusals = Map.of();

    private final ExecutorService workers = Executors.newFixedThreadPool(
            AT_ONCE, Thread.ofPlatform().daemon().name("dataset-replicas-", 0).factory());

    /// @param answers to a node's question about a dataset of that name
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

    /// What the object is called that is about a dataset on a node: what tells it from all others is at its end.
    static String name(DatasetOnNode place) {
        String both = place.dataset() + "." + place.node();
        String begin = both.substring(0, Math.min(both.length(), LONGEST)).replaceFirst("[.-]+$", "");
        String unlike = place.dataset() + "\n" + place.node();
        return begin + "-"
                + Digest.of(ByteBuffer.wrap(unlike.getBytes(StandardCharsets.UTF_8)))
                        .hex()
                        .substring(0, DIGITS);
    }

    /// Brings what nodes were told in step with what is wanted. What cannot be done to one keeps no other, and no
    /// pod. It is tried with each look, and told once.
    ///
    /// @param nodes names of all that there are
    /// @return why something got no answer, if anything did
    Optional<DriverException.BackendUnavailable> keep(
            Set<DatasetOnNode> wanted, List<OrderedReplica> replicas, Map<String, Shared> declared, Set<String> nodes) {
        Set<DatasetOnNode> there = replicas.stream().map(OrderedReplica::place).collect(Collectors.toSet());
        answered.retainAll(replicas.stream()
                .flatMap(replica -> question(replica).stream().map(asked -> new ReplicaQuestion(replica, asked)))
                .collect(Collectors.toSet()));
        Map<String, String> refused = new ConcurrentHashMap<>();
        List<PerObjectRetries.Step> steps = new ArrayList<>();
        for (OrderedReplica replica : replicas) {
            steps.add(step(replica.name(), refused, () -> keepOrDelete(replica, wanted, declared, nodes)));
        }
        for (DatasetOnNode place : wanted) {
            if (!there.contains(place)) {
                Optional.ofNullable(declared.get(place.dataset()))
                        .ifPresent(shared -> steps.add(step(name(place), refused, () -> writeOrder(place, shared))));
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

    /// One that is removed is told anew at the next look, if it is wanted: it is gone then.
    private void keepOrDelete(
            OrderedReplica replica, Set<DatasetOnNode> wanted, Map<String, Shared> declared, Set<String> nodes) {
        boolean isDeclared = Optional.ofNullable(declared.get(replica.order().dataset()))
                .filter(shared -> shared.volume().equals(replica.order().volume()))
                .isPresent();
        boolean isWanted = wanted.contains(replica.place());
        if (!isDeclared || !nodes.contains(replica.order().node())) {
            cluster.forget(replica);
        } else if (isWanted != replica.order().wanted()) {
            cluster.setWanted(replica, isWanted);
        } else if (isWanted) {
            answer(replica);
        } else if (replica.state() == DatasetReplica.State.ABSENT) {
            cluster.forget(replica);
        }
    }

    private PerObjectRetries.Step step(String name, Map<String, String> refused, Runnable act) {
        return new PerObjectRetries.Step(name, act, notThis -> {
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

    /// What a node asks that has no answer yet.
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
                // the process ends; whoever leads next is asked too
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
