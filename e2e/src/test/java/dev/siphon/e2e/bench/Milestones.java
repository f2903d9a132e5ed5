package dev.siphon.e2e.bench;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import dev.siphon.e2e.lab.Await;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/// Records when a watch reported each milestone, because the objects' own timestamps are whole seconds.
final class Milestones {
    private static final Duration POLL = Duration.ofMillis(20);

    private final Map<Reached, Long> nanos = new ConcurrentHashMap<>();
    private final Set<String> failedPods = ConcurrentHashMap.newKeySet();
    private volatile boolean ended;

    /// @param name of the claim and the pod; a volume has its claim's
    private record Reached(Milestone milestone, String name) {}

    private Milestones() {}

    /// Watches the claims and pods of a namespace, and all volumes.
    static Milestones of(KubernetesApi api, String namespace) {
        Milestones milestones = new Milestones();
        String claims = "/api/v1/namespaces/" + namespace + "/persistentvolumeclaims";
        milestones.watch(api, claims, milestones::claim);
        milestones.watch(api, "/api/v1/namespaces/" + namespace + "/pods", milestones::pod);
        milestones.watch(api, "/api/v1/persistentvolumes", milestones::volume);
        return milestones;
    }

    private void watch(KubernetesApi api, String collection, BiConsumer<String, JsonObject> told) {
        api.watch(
                collection,
                event -> told.accept(text(event, "type"), event.getAsJsonObject("object")),
                () -> ended = true);
    }

    private void claim(String type, JsonObject claim) {
        if (!type.equals("DELETED") && text(claim, "status", "phase").equals("Bound")) {
            reach(Milestone.CLAIM_BOUND, text(claim, "metadata", "name"));
        }
    }

    private void pod(String type, JsonObject pod) {
        String name = text(pod, "metadata", "name");
        if (type.equals("DELETED")) {
            reach(Milestone.POD_GONE, name);
        } else if (text(pod, "status", "phase").equals("Failed")) {
            failedPods.add(name);
        } else if (isReady(pod)) {
            reach(Milestone.POD_READY, name);
        }
    }

    private void volume(String type, JsonObject volume) {
        if (type.equals("DELETED")) {
            reach(Milestone.VOLUME_GONE, text(volume, "spec", "claimRef", "name"));
        }
    }

    private static boolean isReady(JsonObject pod) {
        return at(pod, "status", "conditions").isJsonArray()
                && at(pod, "status", "conditions").getAsJsonArray().asList().stream()
                        .map(JsonElement::getAsJsonObject)
                        .anyMatch(condition -> text(condition, "type").equals("Ready")
                                && text(condition, "status").equals("True"));
    }

    private void reach(Milestone milestone, String name) {
        nanos.putIfAbsent(new Reached(milestone, name), System.nanoTime());
    }

    /// Waits until all have reached `milestone`.
    ///
    /// @param began when each began, by [System#nanoTime]
    /// @return how long each took
    /// @throws IllegalStateException if some do not reach it within `limit` (the message names them), if a pod that
    ///     should become ready failed, or if the watch ended
    Timings since(Map<String, Long> began, Milestone milestone, Duration limit) {
        long start = System.nanoTime();
        List<String> left = left(began, milestone);
        while (!left.isEmpty()) {
            if (System.nanoTime() - start > limit.toNanos()) {
                throw new IllegalStateException(
                        milestone.measure() + ": not within " + limit.toSeconds() + " s: " + left);
            }
            Await.pass(POLL);
            left = left(began, milestone);
        }
        List<Long> took = began.entrySet().stream()
                .map(each -> moment(milestone, each.getKey()) - each.getValue())
                .toList();
        return new Timings(took, 0, Duration.ofNanos(System.nanoTime() - start));
    }

    private List<String> left(Map<String, Long> began, Milestone milestone) {
        if (ended) {
            throw new IllegalStateException("the API tells no more");
        }
        List<String> failed =
                began.keySet().stream().filter(failedPods::contains).sorted().toList();
        if (milestone == Milestone.POD_READY && !failed.isEmpty()) {
            throw new IllegalStateException("pods that failed: " + failed);
        }
        return began.keySet().stream()
                .filter(name -> !nanos.containsKey(new Reached(milestone, name)))
                .sorted()
                .toList();
    }

    private long moment(Milestone milestone, String name) {
        return nanos.getOrDefault(new Reached(milestone, name), 0L);
    }

    /// Returns the text at `path`, or an empty string if there is none.
    private static String text(JsonObject object, String... path) {
        JsonElement found = at(object, path);
        return found.isJsonPrimitive() ? found.getAsString() : "";
    }

    private static JsonElement at(JsonObject object, String... path) {
        JsonElement found = object;
        for (String name : path) {
            found = found instanceof JsonObject inner && inner.has(name) ? inner.get(name) : JsonNull.INSTANCE;
        }
        return found;
    }
}
