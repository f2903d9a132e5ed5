package dev.siphon.csi.dataset;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.StatusMapping;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// How a node asks the controller for a dataset that a pod names itself or has a claim for, and is answered: by
/// an object `DatasetAccess` of Kubernetes in the pod's namespace, which goes with the pod. The node writes its
/// `spec`, the controller its `status`. All names in that JSON are in this file.
public final class DatasetAccess {
    /// The object's kind.
    public static final String KIND = "DatasetAccess";

    /// Where objects of that kind are, below an API server's `/apis`.
    public static final String GROUP = "siphon.dev";

    public static final String VERSION = "v1alpha1";
    public static final String PLURAL = "datasetaccesses";

    private static final String DATASET = "dataset";
    private static final String NODE = "node";
    private static final String POD = "pod";
    private static final String POD_UID = "podUID";
    private static final String PUBLIC_KEY = "publicKey";
    private static final String REQUEST = "request";
    private static final String VOLUME = "volume";
    private static final String CONTEXT = "context";
    private static final String USER = "userID";
    private static final String SEALED_KEY = "sealedKey";
    private static final String CODE = "code";
    private static final String MESSAGE = "message";

    private DatasetAccess() {}

    /// What the object is called by which a node asks for the dataset of a pod's claim; that of an inline volume is
    /// called as the kubelet calls the volume, which no claim's is.
    ///
    /// @param volume the claim's
    public static String nameOfClaimed(String podUid, VolumeId.DatasetVolume volume) {
        String text = "claim\0" + podUid + "\0" + volume;
        return "csi-"
                + Digest.of(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)))
                        .hex();
    }

    /// What a node asks for.
    ///
    /// @param dataset as the pod names it; of a claim the id of its volume, which no dataset can be called
    /// @param node on which the pod is
    /// @param pod its name
    /// @param podUid which of all pods that ever had that name
    /// @param publicKey what the key is to be sealed with, see [SealedSecret]
    /// @param request tells this question from earlier ones
    public record Asked(String dataset, String node, String pod, String podUid, String publicKey, String request) {
        /// The object's `spec`.
        public JsonObject toSpec() {
            return json(Map.of(
                    DATASET, dataset, NODE, node, POD, pod, POD_UID, podUid, PUBLIC_KEY, publicKey, REQUEST, request));
        }

        /// Reads what [#toSpec] wrote.
        ///
        /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is something else
        public static Asked ofSpec(JsonObject spec) {
            return new Asked(
                    needed(spec, DATASET),
                    needed(spec, NODE),
                    needed(spec, POD),
                    needed(spec, POD_UID),
                    needed(spec, PUBLIC_KEY),
                    needed(spec, REQUEST));
        }
    }

    /// What the controller answers.
    public sealed interface Answer {
        /// The question that it answers.
        String request();

        /// The object's `status`.
        JsonObject toStatus();

        /// Reads what [#toStatus] wrote; empty if there is none yet.
        ///
        /// @throws DriverException.BackendFault (INTERNAL) if it is something else
        static Optional<Answer> ofStatus(JsonObject status) {
            if (text(status, REQUEST).isEmpty()) {
                return Optional.empty();
            }
            try {
                return Optional.of(text(status, CODE).isPresent() ? Refused.read(status) : Given.read(status));
            } catch (DriverException.InvalidRequest wrong) {
                throw new DriverException.BackendFault("the status of a " + KIND + ": " + wrong.getMessage());
            }
        }
    }

    /// The pod may read it.
    ///
    /// @param volume which one that is
    /// @param context how to reach it
    /// @param userId of the identity that opens it, without `client.`
    /// @param sealedKey that identity's key, see [SealedSecret]
    public record Given(
            String request, VolumeId.DatasetVolume volume, VolumeContext context, String userId, String sealedKey)
            implements Answer {
        /// That of a key which only the one can read who asked.
        ///
        /// @param publicKey as in [Asked]
        /// @param secret the identity's key
        /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `publicKey` is none
        public static Given seal(
                String request,
                String publicKey,
                VolumeId.DatasetVolume volume,
                VolumeContext context,
                String userId,
                String secret) {
            return new Given(
                    request,
                    volume,
                    context,
                    userId,
                    SealedSecret.seal(publicKey, secret, about(request, volume, userId)));
        }

        /// What the key is sealed about: it opens nothing else, and answers no other question.
        public String about() {
            return about(request, volume, userId);
        }

        /// As [#about], of one that is to be made.
        public static String about(String request, VolumeId.DatasetVolume volume, String userId) {
            return request + "\n" + volume + "\n" + userId;
        }

        @Override
        public JsonObject toStatus() {
            JsonObject json =
                    json(Map.of(REQUEST, request, VOLUME, volume.toString(), USER, userId, SEALED_KEY, sealedKey));
            json.add(CONTEXT, json(context.toMap()));
            return json;
        }

        private static Given read(JsonObject status) {
            VolumeId.DatasetVolume volume = VolumeId.DatasetVolume.tryParse(needed(status, VOLUME))
                    .orElseThrow(() -> new DriverException.InvalidRequest(VOLUME + " is no dataset's id"));
            Map<String, String> context = new LinkedHashMap<>();
            if (status.get(CONTEXT) instanceof JsonObject fields) {
                fields.keySet().forEach(key -> context.put(key, needed(fields, key)));
            }
            return new Given(
                    needed(status, REQUEST),
                    volume,
                    VolumeContext.fromMap(volume, context),
                    needed(status, USER),
                    needed(status, SEALED_KEY));
        }
    }

    /// It may not, or it cannot be.
    ///
    /// @param why goes to whoever waits for the pod
    public record Refused(String request, DriverException why) implements Answer {
        @Override
        public JsonObject toStatus() {
            return json(Map.of(REQUEST, request, CODE, StatusMapping.name(why), MESSAGE, why.getMessage()));
        }

        private static Refused read(JsonObject status) {
            return new Refused(
                    needed(status, REQUEST), StatusMapping.named(needed(status, CODE), needed(status, MESSAGE)));
        }
    }

    private static JsonObject json(Map<String, String> fields) {
        JsonObject json = new JsonObject();
        fields.forEach(json::addProperty);
        return json;
    }

    private static Optional<String> text(JsonObject json, String name) {
        return Optional.ofNullable(json.get(name))
                .filter(JsonElement::isJsonPrimitive)
                .map(JsonElement::getAsString);
    }

    private static String needed(JsonObject json, String name) {
        return text(json, name).orElseThrow(() -> new DriverException.InvalidRequest(name + " is missing"));
    }
}
