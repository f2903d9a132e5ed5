package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.warm.GatedPod;
import dev.siphon.controller.warm.ResourceAmounts;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.dataset.Digest;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// The pods that are on nodes and have not ended: the resources that they take, and their claims.
final class RunningPods implements Informer.Values<RunningPods.RunningPod> {
    private static final Informer.Source SOURCE =
            new Informer.Source("Pods on nodes", "api/v1/pods", PodParser.RUNNING, 100, PodParser.OF_RUNNING);

    /// Most resources counted for one pod. A pod may name thousands at no cost; nodes have few.
    private static final int MOST_RESOURCES = 32;

    private static final int DIGITS_OF_A_LONG = 16;
    private static final int HEXADECIMAL = 16;

    private final PodParser reading;
    private final Informer<RunningPod> informer;

    /// Pods of one job request the same.
    private final Interned<ResourceAmounts> shared = new Interned<>();

    /// By node.
    private final Map<String, ResourceAmounts> taken = new HashMap<>();

    /// A pod.
    ///
    /// @param needs resources that it takes of its node
    /// @param isReady the status of its condition [DataReadiness#CONDITION]; empty if it has none
    /// @param claims of its volumes, each by its [#key], since each pod of a tenant may have 166 names of 253
    ///     characters
    record RunningPod(
            String node,
            ResourceAmounts needs,
            String namespace,
            String name,
            String uid,
            Optional<Boolean> isReady,
            List<Long> claims) {
        RunningPod {
            claims = List.copyOf(claims);
        }
    }

    RunningPods(KubernetesApi api, PodParser reading) {
        this.reading = reading;
        this.informer = new Informer<>(api, SOURCE, this, System::nanoTime);
    }

    /// Returns a 64-bit hash of a claim's namespace and name, which is unique in practice.
    static long key(PersistentVolumes.ClaimKey claim) {
        String text = claim.namespace() + "/" + claim.name();
        String hex = Digest.of(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)))
                .hex();
        return Long.parseUnsignedLong(hex.substring(0, DIGITS_OF_A_LONG), HEXADECIMAL);
    }

    /// Watches the pods until the task is closed.
    ///
    /// @param changed as for [Informer#follow]
    BackgroundTasks.Task follow(BackgroundTasks tasks, Runnable changed) {
        return informer.follow(tasks, changed);
    }

    /// Returns all pods.
    List<RunningPod> all() {
        return informer.all();
    }

    @Override
    public synchronized Optional<RunningPod> of(ObjectParts pod, Optional<RunningPod> before) {
        RunningPod running = running(pod.kept());
        if (before.equals(Optional.of(running))) {
            return before;
        }
        before.ifPresent(this::gone);
        taken.merge(running.node(), running.needs(), ResourceAmounts::plus);
        return Optional.of(running);
    }

    private RunningPod running(JsonObject pod) {
        ResourceAmounts needs = few(PodParser.needs(pod, _ -> true));
        String namespace = JsonParts.text(pod, "metadata", "namespace").orElse("");
        return new RunningPod(
                JsonParts.text(pod, "spec", "nodeName").orElse(""),
                shared.of(needs),
                namespace,
                JsonParts.text(pod, "metadata", "name").orElse(""),
                JsonParts.text(pod, "metadata", "uid").orElse(""),
                PodParser.isDataReady(pod),
                reading.uses(pod).stream()
                        .filter(GatedPod.DatasetReference.ByClaim.class::isInstance)
                        .map(use -> key(new PersistentVolumes.ClaimKey(
                                namespace, ((GatedPod.DatasetReference.ByClaim) use).claim())))
                        .toList());
    }

    private static ResourceAmounts few(ResourceAmounts needs) {
        Map<String, BigDecimal> few = new TreeMap<>();
        needs.amounts().entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .limit(MOST_RESOURCES)
                .forEach(each -> few.put(each.getKey(), each.getValue()));
        return new ResourceAmounts(few);
    }

    @Override
    public synchronized void gone(RunningPod before) {
        taken.computeIfPresent(before.node(), (_, sum) -> {
            ResourceAmounts left = sum.minus(before.needs());
            return left.amounts().isEmpty() ? null : left;
        });
    }

    /// Returns the resources taken of each node.
    Map<String, ResourceAmounts> taken() {
        informer.bringUp();
        synchronized (this) {
            return Map.copyOf(taken);
        }
    }
}
