package dev.siphon.controller.warm;

import dev.siphon.controller.dataset.Attempts;
import dev.siphon.controller.warm.Replica.Place;
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
final class Orders implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Orders.class);

    /// How many are answered at once: each waits for Ceph.
    private static final int AT_ONCE = 8;

    /// What an object's name may have (RFC 1123, "DNS subdomain"), less what is put behind it.
    private static final int LONGEST = 240;

    private static final int DIGITS = 8;

    private final WarmingCluster cluster;
    private final BiFunction<DatasetReplica.Question, DatasetReplica.Order, DatasetAccess.Answer> answers;
    private final Attempts attempts = new Attempts();

    /// Questions that are being answered, and those that were, of which the answer is not seen yet.
    private final Set<Asked> underWay = ConcurrentHashMap.newKeySet();

    private final Set<Asked> answered = ConcurrentHashMap.newKeySet();

    /// Why what could not be done to an object could not, by its name; of the last look.
    private Map<String, String> refusals = Map.of();

    private final ExecutorService workers = Executors.newFixedThreadPool(
            AT_ONCE, Thread.ofPlatform().daemon().name("dataset-replicas-", 0).factory());

    /// @param answers to a node's question about a dataset of that name
    Orders(
            WarmingCluster cluster,
            BiFunction<DatasetReplica.Question, DatasetReplica.Order, DatasetAccess.Answer> answers) {
        this.cluster = cluster;
        this.answers = answers;
    }

    @Override
    public void close() {
        workers.shutdownNow();
    }

    /// What the object is called that is about a dataset on a node: what tells it from all others is at its end.
    static String name(Place place) {
        String both = place.dataset() + "." + place.node();
        String begin = both.substring(0, Math.min(both.length(), LONGEST)).replaceFirst("[.-]+$", "");
        String unlike = place.dataset() + "\n" + place.node();
        return begin + "-"
                + Digest.of(ByteBuffer.wrap(unlike.getBytes(StandardCharsets.UTF_8)))
                        .hex()
                        .substring(0, DIGITS);
    }

    /// Brings what nodes were told in step with what is wanted. What cannot be done to one keeps no other, and no pod.
    /// It is tried with each look, and told once.
    ///
    /// @param nodes names of all that there are
    /// @return why something got no answer, if anything did
    Optional<DriverException.BackendUnavailable> keep(
            Set<Place> wanted, List<Replica> replicas, Map<String, Shared> declared, Set<String> nodes) {
        Set<Place> there = replicas.stream().map(Replica::place).collect(Collectors.toSet());
        answered.retainAll(replicas.stream()
                .flatMap(replica -> question(replica).stream().map(asked -> new Asked(replica, asked)))
                .collect(Collectors.toSet()));
        Map<String, String> refused = new ConcurrentHashMap<>();
        List<Attempts.Step> steps = new ArrayList<>();
        for (Replica replica : replicas) {
            steps.add(step(replica.name(), refused, () -> keep(replica, wanted, declared, nodes)));
        }
        for (Place place : wanted) {
            if (!there.contains(place)) {
                Optional.ofNullable(declared.get(place.dataset()))
                        .ifPresent(shared -> steps.add(step(name(place), refused, () -> tell(place, shared))));
            }
        }
        Optional<DriverException.BackendUnavailable> silent = attempts.take(steps);
        refusals = refused;
        return silent;
    }

    private void tell(Place place, Shared shared) {
        cluster.tell(
                name(place),
                new DatasetReplica.Order(place.dataset(), place.node(), shared.volume(), true, Optional.empty()));
    }

    /// One that is removed is told anew at the next look, if it is wanted: it is gone then.
    private void keep(Replica replica, Set<Place> wanted, Map<String, Shared> declared, Set<String> nodes) {
        boolean isDeclared = Optional.ofNullable(declared.get(replica.order().dataset()))
                .filter(shared -> shared.volume().equals(replica.order().volume()))
                .isPresent();
        boolean isWanted = wanted.contains(replica.place());
        if (!isDeclared || !nodes.contains(replica.order().node())) {
            cluster.forget(replica);
        } else if (isWanted != replica.order().wanted()) {
            cluster.want(replica, isWanted);
        } else if (isWanted) {
            answer(replica);
        } else if (replica.state() == DatasetReplica.State.ABSENT) {
            cluster.forget(replica);
        }
    }

    private Attempts.Step step(String name, Map<String, String> refused, Runnable act) {
        return new Attempts.Step(name, act, notThis -> {
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
    private record Asked(String replica, DatasetReplica.Question question) {
        Asked(Replica replica, DatasetReplica.Question question) {
            this(replica.name(), question);
        }
    }

    /// What a node asks that has no answer yet.
    private static Optional<DatasetReplica.Question> question(Replica replica) {
        return replica.report()
                .flatMap(DatasetReplica.Report::question)
                .filter(question -> replica.order().access().stream()
                        .noneMatch(answer -> answer.request().equals(question.request())));
    }

    private void answer(Replica replica) {
        Optional<Asked> open = question(replica)
                .map(question -> new Asked(replica, question))
                .filter(asked -> !answered.contains(asked));
        open.filter(underWay::add).ifPresent(asked -> {
            try {
                workers.execute(() -> answer(replica, asked));
            } catch (RejectedExecutionException _) {
                // the process ends; whoever leads next is asked too
            }
        });
    }

    private void answer(Replica replica, Asked asked) {
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
