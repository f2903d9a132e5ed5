package dev.siphon.node.kubernetes;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.node.device.DeviceClaims;
import dev.siphon.node.device.HeldDevice;
import dev.siphon.node.device.PodDevices.Answer;
import dev.siphon.node.pod.Pod;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.net.HttpURLConnection;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Devices of pods, by ResourceClaims of the pod's namespace that are reserved for it, and ResourceSlices of this node.
/// Of a pod without claims it costs one request, of one with claims one or two. It does not read pods, whose specs hold
/// more than whoever places data has to know.
///
/// A cluster that has no such objects, or does not let this node read them, is asked again a minute later; until then,
/// no pod has any. One that does not answer is left alone for some seconds: it costs one pod the time, and not each.
public final class ResourceClaimsApi implements DeviceClaims {
    private static final Logger LOG = LoggerFactory.getLogger(ResourceClaimsApi.class);
    private static final String GROUP = "/apis/resource.k8s.io/v1";

    /// Claims in one answer: some hundred kilobytes.
    private static final int PAGE = 250;

    /// There is no point in a question with less time.
    private static final Duration SHORTEST = Duration.ofMillis(10);

    /// A device's attributes do not change while a pod has it.
    private static final Duration LASTS = Duration.ofMinutes(1);

    private static final Duration AFTER_SILENCE = Duration.ofSeconds(10);
    private static final Duration AFTER_REFUSAL = Duration.ofMinutes(1);

    private final ApiAccess access;
    private final NodeId node;
    private final Counter answers;
    private NodeDevices devices = NodeDevices.NONE;
    private long devicesUntil = System.nanoTime();
    private Optional<Quiet> quiet = Optional.empty();

    /// Until when nobody is asked.
    ///
    /// @param end by [System#nanoTime]
    /// @param refused whether there was an answer
    private record Quiet(long end, boolean refused, String why) {}

    /// @param node whose slices are read; called as Kubernetes calls it
    public ResourceClaimsApi(ApiAccess access, NodeId node, PrometheusRegistry metrics) {
        this.access = access;
        this.node = node;
        this.answers = Counter.builder()
                .name("siphon_pod_claims_total")
                .help("What the ResourceClaims of pods that use datasets, and have no GPU by the kubelet, said of their"
                        + " devices: held, none, or unknown.")
                .labelNames("result")
                .register(metrics);
    }

    @Override
    public Answer of(Pod pod, Duration limit) {
        Optional<Quiet> now = quiet();
        if (now.isPresent()) {
            answers.labelValues("unknown").inc();
            return now.get().refused()
                    ? new Answer.Held(List.of())
                    : new Answer.Unknown(now.get().why());
        }
        if (limit.compareTo(SHORTEST) < 0) {
            answers.labelValues("unknown").inc();
            return new Answer.Unknown("there was no time left to ask the Kubernetes API for claims");
        }
        try (ApiConnection api = ApiConnection.to(access)) {
            List<HeldDevice> held = held(new Question(api, System.nanoTime() + limit.toNanos()), pod);
            answers.labelValues(held.isEmpty() ? "none" : "held").inc();
            return new Answer.Held(held);
        } catch (DriverException.Unsupported e) {
            answers.labelValues("unknown").inc();
            rest(AFTER_REFUSAL, true, e.getMessage());
            return new Answer.Held(List.of());
        } catch (DriverException e) {
            answers.labelValues("unknown").inc();
            rest(AFTER_SILENCE, false, e.getMessage());
            return new Answer.Unknown(String.valueOf(e.getMessage()));
        }
    }

    private List<HeldDevice> held(Question question, Pod pod) {
        List<AllocatedDevice> allocated =
                question.list("/namespaces/" + encoded(pod.namespace()) + "/resourceclaims?limit=" + PAGE).stream()
                        .flatMap(claim -> AllocatedDevice.of(claim, pod).stream())
                        .distinct()
                        .toList();
        if (allocated.isEmpty()) {
            return List.of();
        }
        NodeDevices known = devices();
        if (!known.know(allocated)) {
            known = NodeDevices.of(question.list(
                    "/resourceslices?limit=" + PAGE + "&fieldSelector=" + encoded("spec.nodeName=" + node.name())));
            devices(known);
        }
        return allocated.stream().map(known::held).toList();
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    /// Several requests, within one time.
    ///
    /// @param end by [System#nanoTime]
    private record Question(ApiConnection api, long end) {
        /// What is in a list, however many answers it takes (Kubernetes API Concepts, "Retrieving large results sets in
        /// chunks").
        ///
        /// @throws DriverException.Unsupported (UNIMPLEMENTED) if this node may not, or there is none of it
        /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if that cannot be had in time
        List<JsonObject> list(String path) {
            List<JsonObject> items = new ArrayList<>();
            String more = "";
            do {
                JsonObject page = page(path + more);
                Json.objects(page, "items").forEach(items::add);
                more = Json.object(page, "metadata")
                        .flatMap(metadata -> Json.text(metadata, "continue"))
                        .filter(token -> !token.isEmpty())
                        .map(token -> "&continue=" + encoded(token))
                        .orElse("");
            } while (!more.isEmpty());
            return items;
        }

        private JsonObject page(String path) {
            long left = end - System.nanoTime();
            if (left < SHORTEST.toNanos()) {
                throw new DriverException.BackendUnavailable("the Kubernetes API takes long to say what is claimed");
            }
            ApiConnection.Reply reply = api.get(GROUP + path, Duration.ofNanos(left));
            return switch (reply.status()) {
                case HttpURLConnection.HTTP_OK -> parsed(reply.body());
                case HttpURLConnection.HTTP_FORBIDDEN, HttpURLConnection.HTTP_NOT_FOUND ->
                    throw new DriverException.Unsupported(reply.describe());
                default -> throw new DriverException.BackendUnavailable("claims cannot be read: " + reply.describe());
            };
        }

        private static JsonObject parsed(String body) {
            try {
                return JsonParser.parseString(body).getAsJsonObject();
            } catch (JsonParseException | IllegalStateException e) {
                throw new DriverException.BackendUnavailable("the Kubernetes API's answer is no list of claims", e);
            }
        }
    }

    private synchronized NodeDevices devices() {
        return devicesUntil - System.nanoTime() > 0 ? devices : NodeDevices.NONE;
    }

    private synchronized void devices(NodeDevices known) {
        devices = known;
        devicesUntil = System.nanoTime() + LASTS.toNanos();
    }

    private synchronized Optional<Quiet> quiet() {
        return quiet.filter(still -> still.end() - System.nanoTime() > 0);
    }

    /// Says once why.
    private synchronized void rest(Duration pause, boolean refused, @Nullable String why) {
        String reason = String.valueOf(why);
        if (refused && quiet.filter(Quiet::refused).isEmpty()) {
            LOG.atInfo()
                    .addKeyValue("reason", reason)
                    .log("devices that pods are allocated dynamically are not known here: node.resourceClaims of the"
                            + " chart has what that needs");
        }
        quiet = Optional.of(new Quiet(System.nanoTime() + pause.toNanos(), refused, reason));
    }
}
