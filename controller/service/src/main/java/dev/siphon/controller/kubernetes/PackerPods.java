package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.csi.DriverException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Reads the progress and errors of packers' pods. A Job creates one pod after the other, and the newest counts.
final class PackerPods {
    private static final Logger LOG = LoggerFactory.getLogger(PackerPods.class);
    private static final String STATUS = "status";

    /// A packer's progress line: `read 7% 12 of 345 bytes`.
    private static final Pattern PROGRESS = Pattern.compile("[a-z ]{0,20}[0-9]{1,3}% [0-9]+ of [0-9]+ bytes");

    private static final int MOST_LOG_BYTES = 4096;
    private static final int MOST_WORDS = 500;

    private static final Keep PARTS = Keep.of(
            "metadata.name",
            "metadata.creationTimestamp",
            "status.phase",
            "status.containerStatuses.state.terminated.message",
            "status.containerStatuses.state.terminated.reason",
            "status.containerStatuses.state.terminated.exitCode");

    private final KubernetesApi api;

    PackerPods(KubernetesApi api) {
        this.api = api;
    }

    /// Returns the last output of the newest pod of Job `name`, if one of its containers has ended.
    Optional<String> lastWords(String name) {
        return newest(name).flatMap(PackerPods::lastWords);
    }

    /// Returns the progress of Job `name`, for people.
    String progress(String name) {
        return newest(name).map(this::progress).orElse("its pod does not exist yet");
    }

    private Optional<JsonObject> newest(String name) {
        AtomicReference<JsonObject> newest = new AtomicReference<>(new JsonObject());
        boolean _ = ObjectParts.list(
                api,
                "list Pods",
                pods() + "?limit=100&labelSelector=batch.kubernetes.io%2Fjob-name%3D" + name,
                PARTS,
                pod -> newest.accumulateAndGet(
                        pod.kept(), (one, other) -> created(one).compareTo(created(other)) < 0 ? other : one));
        return Optional.of(newest.get()).filter(pod -> !created(pod).isEmpty());
    }

    private static String created(JsonObject pod) {
        return JsonParts.text(pod, "metadata", "creationTimestamp").orElse("");
    }

    /// Returns the last line of an ended container's message other than progress
    /// (`terminationMessagePolicy: FallbackToLogsOnError`), or the reason why it ended.
    private static Optional<String> lastWords(JsonObject pod) {
        return JsonParts.each(pod, STATUS, "containerStatuses")
                .flatMap(status -> JsonParts.object(status, "state", "terminated").stream())
                .findFirst()
                .map(ended -> JsonParts.text(ended, "message")
                        .flatMap(said -> said.lines()
                                .filter(line -> !line.isBlank()
                                        && !PROGRESS.matcher(line.strip()).matches())
                                .reduce((_, last) -> last))
                        .orElseGet(() -> JsonParts.text(ended, "reason").orElse("it ended") + ", exit code "
                                + JsonParts.text(ended, "exitCode").orElse("unknown")))
                .map(said -> said.substring(0, Math.min(said.length(), MOST_WORDS)));
    }

    /// Returns the progress from the pod's last log line. A failed read is only logged.
    private String progress(JsonObject pod) {
        String name = JsonParts.text(pod, "metadata", "name").orElse("");
        String phase = JsonParts.text(pod, STATUS, "phase").orElse("Pending");
        if (phase.equals("Failed")) {
            return "is tried again: " + lastWords(pod).orElse("its pod is gone");
        }
        if (!phase.equals("Running")) {
            return "its pod is " + phase;
        }
        String doing = "get log of Pod " + name;
        try {
            return api.read(
                            doing,
                            pods() + "/" + name + "/log?tailLines=1",
                            body -> new String(body.readNBytes(MOST_LOG_BYTES), StandardCharsets.UTF_8).strip())
                    .filter(line -> PROGRESS.matcher(line).matches())
                    .orElse("reads what it wrote before");
        } catch (DriverException notNow) {
            LOG.info("the progress of a packer is unknown: {}", notNow.getMessage());
            return "works";
        }
    }

    private String pods() {
        return "api/v1/namespaces/" + api.namespace() + "/pods";
    }
}
