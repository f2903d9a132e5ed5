package dev.siphon.controller.kubernetes;

import dev.siphon.controller.warm.Resources;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// What the pods take that are on nodes and have not ended, summed up by node.
final class RunningPods implements Informer.Values<RunningPods.Running> {
    static final Informer.Source SOURCE =
            new Informer.Source("Pods on nodes", "api/v1/pods", PodReading.RUNNING, 100, PodReading.OF_RUNNING);

    /// Of one pod. Pods may name thousands of resources, at no cost; those of nodes are few.
    private static final int MOST_RESOURCES = 32;

    /// Pods of one job ask for the same, which is kept once.
    private static final int SHARED = 1_000;

    private final Map<Resources, Resources> shared = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Resources, Resources> eldest) {
            return size() > SHARED;
        }
    };

    /// By node.
    private final Map<String, Resources> taken = new HashMap<>();

    /// What a pod takes of its node.
    record Running(String node, Resources needs) {}

    @Override
    public synchronized Optional<Running> of(ObjectParts pod, Optional<Running> before) {
        Resources needs = few(PodReading.needs(pod.kept(), _ -> true));
        String node = JsonParts.text(pod.kept(), "spec", "nodeName").orElse("");
        Optional<Running> running = Optional.of(new Running(node, shared.computeIfAbsent(needs, own -> own)));
        if (running.equals(before)) {
            return before;
        }
        before.ifPresent(this::gone);
        taken.merge(node, needs, Resources::plus);
        return running;
    }

    private static Resources few(Resources needs) {
        Map<String, BigDecimal> few = new TreeMap<>();
        needs.amounts().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .limit(MOST_RESOURCES)
                .forEach(each -> few.put(each.getKey(), each.getValue()));
        return new Resources(few);
    }

    @Override
    public synchronized void gone(Running before) {
        taken.computeIfPresent(before.node(), (_, sum) -> {
            Resources left = sum.minus(before.needs());
            return left.amounts().isEmpty() ? null : left;
        });
    }

    /// What is taken of each node.
    synchronized Map<String, Resources> taken() {
        return Map.copyOf(taken);
    }
}
