package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.seal.CheckOrder;
import dev.siphon.controller.seal.SealOrder;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/// Limits how many packers and readers of images run at once; an administrator sets the number. An image that an
/// earlier version sealed is already in use, so it is read back only while no other packer waits. If one finds no
/// place, that Job is stopped, and later restarts from the beginning.
final class PackerQueue {
    /// The PodTemplate's annotation with the number of packers that run at once.
    private static final String AT_ONCE = "siphon.dev/at-once";

    static final String AT_ONCE_PART = "metadata.annotations." + AT_ONCE;

    /// Label of a Job that reads back an image of an earlier version, which blocks no one.
    static final String EARLIER = "siphon.dev/earlier-image";

    private static final Keep PARTS =
            Keep.of("metadata.name", "metadata.labels", "status.conditions.type", "status.conditions.status");

    private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,2}");
    private static final int SOME = 2;

    /// How long a place stays reserved for waiting packers: the snapshotter retries at least every 30 s.
    private static final Duration KEPT = Duration.ofMinutes(2);

    private final KubernetesApi api;
    private final String jobs;

    /// Until when places are reserved for waiting packers.
    private Optional<Long> keptUntil = Optional.empty();

    /// @param jobs the collection of the Jobs
    PackerQueue(KubernetesApi api, String jobs) {
        this.api = api;
        this.jobs = jobs;
    }

    private record AtWork(String name, boolean earlier) {}

    /// Starts a packer if there is a place. Count and start are atomic, so that no two take the last place.
    ///
    /// @param template the PodTemplate
    /// @param stop ends a Job
    /// @return what it waits for, in words for people; empty if it started
    synchronized Optional<String> take(SealOrder order, JsonObject template, Runnable begin, Consumer<String> stop) {
        boolean earlier = order instanceof CheckOrder check && check.earlier();
        List<AtWork> others = atWork(order.name());
        if (others.size() < atOnce(template) && !(earlier && isKept())) {
            begin.run();
            return Optional.empty();
        }
        if (!earlier) {
            keptUntil = Optional.of(System.nanoTime() + KEPT.toNanos());
            others.stream().filter(AtWork::earlier).findFirst().ifPresent(other -> stop.accept(other.name()));
        }
        return Optional.of("waits: " + others.size() + " are packed before it");
    }

    private boolean isKept() {
        return keptUntil.filter(until -> until - System.nanoTime() > 0).isPresent();
    }

    /// Returns how many packers may run at once; [#SOME] without the annotation.
    private static int atOnce(JsonObject template) {
        String said =
                JsonParts.text(template, "metadata", "annotations", AT_ONCE).orElse(String.valueOf(SOME));
        if (!NUMBER.matcher(said).matches()) {
            throw new DriverException.InUse("PodTemplate " + KubernetesSealing.TEMPLATE + " has annotation " + AT_ONCE
                    + " " + QuotedText.of(said) + ", which is no number from 1 to 999");
        }
        return Integer.parseInt(said);
    }

    private List<AtWork> atWork(String but) {
        List<AtWork> others = new ArrayList<>();
        boolean _ = ObjectParts.list(
                api,
                "list Jobs",
                jobs + "?limit=500&labelSelector="
                        + URLEncoder.encode(KeySecret.MANAGED_BY + "=" + KeySecret.SIPHON, StandardCharsets.UTF_8),
                PARTS,
                found -> {
                    JsonObject job = found.kept();
                    boolean earlier =
                            JsonParts.text(job, "metadata", "labels", EARLIER).isPresent();
                    JsonParts.text(job, "metadata", "name")
                            .filter(name -> !name.equals(but)
                                    && !KubernetesSealing.hasCondition(job, "Complete")
                                    && !KubernetesSealing.hasCondition(job, "Failed"))
                            .ifPresent(name -> others.add(new AtWork(name, earlier)));
                });
        return others;
    }
}
