package dev.siphon.controller.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.controller.warm.QueuedWorkload;
import dev.siphon.controller.warm.QueuedWorkload.Release;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/// The annotations of a Workload of Kueue that gave its quota back while its data loads. A leader goes on from them
/// alone. Whoever may change a Workload may write them, so a wrong one only ends the wait.
final class ReleaseAnnotations {
    /// When this driver deactivated the Workload. Whoever removes it keeps the Workload deactivated.
    static final String RELEASED = "siphon.dev/released";

    /// JSON that outlives [#RELEASED] until the Workload is admitted, so that it is released once: `released` as
    /// there, `since` when its data began to load, and what Kueue forgets: `clusterQueue` where it had quota,
    /// `checks` which of this driver's it had, and `flavors` what Kueue had chosen for each pod set.
    static final String WAIT = "siphon.dev/data-wait";

    private static final String AT = "released";
    private static final String SINCE = "since";
    private static final String CLUSTER_QUEUE = "clusterQueue";
    private static final String CHECKS = "checks";
    private static final String FLAVORS = "flavors";

    /// The most characters of [#WAIT]: Kueue takes 8 pod sets, and whoever writes annotations may write any number.
    private static final int LONGEST = 16_384;

    private ReleaseAnnotations() {}

    static boolean isReleased(JsonObject workload) {
        return annotation(workload, RELEASED).isPresent();
    }

    /// Returns how the Workload gave its quota back; empty if it did not, or was admitted since.
    ///
    /// @param admitted when it last was admitted, or lost that
    static Optional<Release> release(JsonObject workload, Instant admitted) {
        return annotation(workload, WAIT)
                .map(text -> {
                    JsonObject wait = parsed(text);
                    Optional<Instant> at = time(wait, AT);
                    // this driver writes both times with the mark: without one it has waited for long enough
                    boolean isWrong = at.isEmpty()
                            || (isReleased(workload) && time(wait, SINCE).isEmpty());
                    return new Release(
                            at.orElse(Instant.EPOCH), isWrong ? Optional.of(Instant.EPOCH) : time(wait, SINCE));
                })
                .or(() -> isReleased(workload)
                        ? Optional.of(new Release(Instant.EPOCH, Optional.of(Instant.EPOCH)))
                        : Optional.empty())
                .filter(release -> isReleased(workload) || admitted.isBefore(release.at()));
    }

    /// Returns the flavors of each pod set before the Workload gave its quota back.
    static Map<String, Set<String>> flavors(JsonObject workload) {
        Map<String, Set<String>> flavors = new HashMap<>();
        annotation(workload, WAIT)
                .flatMap(text -> JsonParts.object(parsed(text), FLAVORS))
                .ifPresent(sets -> sets.keySet()
                        .forEach(set ->
                                flavors.put(set, JsonParts.words(sets, set).collect(Collectors.toSet()))));
        return flavors;
    }

    /// Returns the ClusterQueue where the Workload had quota.
    static Optional<String> clusterQueue(JsonObject workload) {
        return annotation(workload, WAIT).flatMap(text -> JsonParts.text(parsed(text), CLUSTER_QUEUE));
    }

    /// Returns this driver's checks of the Workload before it gave its quota back.
    static Set<String> checks(JsonObject workload) {
        return annotation(workload, WAIT).stream()
                .flatMap(text -> JsonParts.words(parsed(text), CHECKS))
                .collect(Collectors.toSet());
    }

    /// Returns the annotations of a Workload that gives its quota back now.
    ///
    /// @param checks this driver's
    static JsonObject released(String now, Instant since, Set<String> checks, QueuedWorkload workload) {
        JsonObject flavors = new JsonObject();
        workload.podSets().forEach(set -> flavors.add(set.name(), sorted(set.flavors())));
        JsonObject wait = new JsonObject();
        wait.addProperty(AT, now);
        wait.addProperty(SINCE, since.toString());
        workload.clusterQueue().ifPresent(queue -> wait.addProperty(CLUSTER_QUEUE, queue));
        wait.add(CHECKS, sorted(checks));
        wait.add(FLAVORS, flavors);
        JsonObject annotations = new JsonObject();
        annotations.addProperty(RELEASED, now);
        annotations.addProperty(WAIT, wait.toString());
        return annotations;
    }

    /// Returns how the annotations change when the Workload queues for its quota again.
    ///
    /// @param isLate whether its longest wait is over; otherwise a wait after that begins anew
    static JsonObject resumed(Optional<Release> release, boolean isLate) {
        JsonObject annotations = new JsonObject();
        annotations.add(RELEASED, JsonNull.INSTANCE);
        release.filter(_ -> !isLate).ifPresent(before -> {
            JsonObject wait = new JsonObject();
            wait.addProperty(AT, before.at().toString());
            annotations.addProperty(WAIT, wait.toString());
        });
        return annotations;
    }

    private static JsonArray sorted(Set<String> names) {
        JsonArray sorted = new JsonArray();
        names.stream().sorted().forEach(sorted::add);
        return sorted;
    }

    private static Optional<String> annotation(JsonObject workload, String name) {
        return JsonParts.text(workload, "metadata", "annotations", name);
    }

    private static Optional<Instant> time(JsonObject wait, String name) {
        return JsonParts.text(wait, name).flatMap(PodParser::time);
    }

    private static JsonObject parsed(String text) {
        if (text.length() > LONGEST) {
            return new JsonObject();
        }
        try {
            return JsonParser.parseString(text) instanceof JsonObject object ? object : new JsonObject();
        } catch (JsonParseException none) {
            return new JsonObject();
        }
    }
}
