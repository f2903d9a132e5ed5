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

/// The protocol by which a node asks the controller for a dataset of a pod, named inline or by a claim. It is a
/// Kubernetes object `DatasetAccess` in the pod's namespace, which is deleted with the pod. The node writes its
/// `spec`, the controller its `status`. This file defines all names in that JSON.
public final class DatasetAccess {
    /// The object's kind.
    public static final String KIND = "DatasetAccess";

    /// The API group of the object, below an API server's `/apis`.
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
    private static final String ENCRYPTED_KEY = "sealedKey";
    private static final String CODE = "code";
    private static final String MESSAGE = "message";

    private DatasetAccess() {}

    /// Returns the name of the object for the dataset of a pod's claim. The object for an inline volume has the
    /// kubelet's id of that volume, which never equals the name for a claim.
    ///
    /// @param volume the volume of the claim
    public static String nameOfClaimed(String podUid, VolumeId.DatasetVolume volume) {
        String text = "claim\0" + podUid + "\0" + volume;
        return "csi-"
                + Digest.of(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)))
                        .hex();
    }

    /// A request of a node.
    ///
    /// @param dataset the name that the pod uses; for a claim the id of its volume, which cannot be a dataset's
    ///     name
    /// @param node the pod's node
    /// @param pod the pod's name
    /// @param podUid distinguishes the pod from others that had the same name
    /// @param publicKey the public key to encrypt the answer with, see [EncryptedSecret]
    /// @param request distinguishes this request from earlier ones
    public record Asked(String dataset, String node, String pod, String podUid, String publicKey, String request) {
        /// Returns the object's `spec`.
        public JsonObject toSpec() {
            return json(Map.of(
                    DATASET, dataset, NODE, node, POD, pod, POD_UID, podUid, PUBLIC_KEY, publicKey, REQUEST, request));
        }

        /// Parses the JSON of [#toSpec].
        ///
        /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is anything else
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

    /// The controller's reply.
    public sealed interface Answer {
        /// Returns the request that it answers.
        String request();

        /// Returns the object's `status`.
        JsonObject toStatus();

        /// Parses the JSON of [#toStatus]; empty if there is no reply yet.
        ///
        /// @throws DriverException.BackendFault (INTERNAL) if it is anything else
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

    /// The pod may read the dataset.
    ///
    /// @param volume the dataset's volume
    /// @param context how to mount it
    /// @param userId the identity that opens it, without `client.`
    /// @param encryptedKey the key of that identity, see [EncryptedSecret]
    public record Given(
            String request, VolumeId.DatasetVolume volume, VolumeContext context, String userId, String encryptedKey)
            implements Answer {
        /// Returns a reply with a key that only the requester can read.
        ///
        /// @param publicKey as in [Asked]
        /// @param secret the identity's key
        /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `publicKey` is not a public key
        public static Given encrypt(
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
                    EncryptedSecret.encrypt(publicKey, secret, about(request, volume, userId)));
        }

        /// Returns what the encrypted key is bound to: this request, volume and identity.
        public String about() {
            return about(request, volume, userId);
        }

        /// As [#about], for a reply that does not exist yet.
        public static String about(String request, VolumeId.DatasetVolume volume, String userId) {
            return request + "\n" + volume + "\n" + userId;
        }

        @Override
        public JsonObject toStatus() {
            JsonObject json = json(
                    Map.of(REQUEST, request, VOLUME, volume.toString(), USER, userId, ENCRYPTED_KEY, encryptedKey));
            json.add(CONTEXT, json(context.toMap()));
            return json;
        }

        private static Given read(JsonObject status) {
            VolumeId.DatasetVolume volume = VolumeId.DatasetVolume.tryParse(needed(status, VOLUME))
                    .orElseThrow(() -> new DriverException.InvalidRequest(VOLUME + " is not a dataset's id"));
            Map<String, String> context = new LinkedHashMap<>();
            if (status.get(CONTEXT) instanceof JsonObject fields) {
                fields.keySet().forEach(key -> context.put(key, needed(fields, key)));
            }
            return new Given(
                    needed(status, REQUEST),
                    volume,
                    VolumeContext.fromMap(volume, context),
                    needed(status, USER),
                    needed(status, ENCRYPTED_KEY));
        }
    }

    /// The pod may not read the dataset, or the controller cannot grant it.
    ///
    /// @param why the reason, reported to those who wait for the pod
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
