package dev.siphon.csi.dataset;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.Arrays;
import java.util.Optional;

/// How the controller has a node keep a replica of a dataset before any pod is there: by an object
/// `DatasetReplica` of Kubernetes for each dataset and node. The controller writes its `spec`, the node its
/// `status`. All names in that JSON are in this file.
public final class DatasetReplica {
    /// The object's kind.
    public static final String KIND = "DatasetReplica";

    /// Where objects of that kind are, below an API server's `/apis`.
    public static final String GROUP = DatasetAccess.GROUP;

    public static final String VERSION = DatasetAccess.VERSION;
    public static final String PLURAL = "datasetreplicas";

    /// The field by which a node selects its own.
    public static final String NODE_FIELD = "spec.node";

    private static final String DATASET = "dataset";
    private static final String NODE = "node";
    private static final String VOLUME = "volume";
    private static final String WANTED = "wanted";
    private static final String ACCESS = "access";
    private static final String REQUEST = "request";
    private static final String PUBLIC_KEY = "publicKey";
    private static final String STATE = "state";
    private static final String PERCENT = "percent";
    private static final String BYTES = "bytes";
    private static final String CACHE_DIRECTORY = "cacheDirectory";
    private static final String MESSAGE = "message";
    private static final int ALL = 100;

    private DatasetReplica() {}

    /// What is wanted of a node.
    ///
    /// @param dataset the name under which it is declared
    /// @param volume which one that is, for no claim
    /// @param wanted whether to make a replica, or only to say what there is
    /// @param access the answer to what the node asked last; empty if there is none
    public record Order(
            String dataset,
            String node,
            VolumeId.DatasetVolume volume,
            boolean wanted,
            Optional<DatasetAccess.Answer> access) {
        /// The object's `spec`.
        public JsonObject toSpec() {
            JsonObject json = new JsonObject();
            json.addProperty(DATASET, dataset);
            json.addProperty(NODE, node);
            json.addProperty(VOLUME, volume.toString());
            json.addProperty(WANTED, wanted);
            access.ifPresent(answer -> json.add(ACCESS, answer.toStatus()));
            return json;
        }

        /// Reads what [#toSpec] wrote.
        ///
        /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is something else
        public static Order ofSpec(JsonObject spec) {
            Optional<JsonElement> wanted = Optional.ofNullable(spec.get(WANTED));
            return new Order(
                    needed(spec, DATASET),
                    needed(spec, NODE),
                    VolumeId.DatasetVolume.tryParse(needed(spec, VOLUME))
                            .orElseThrow(() -> new DriverException.InvalidRequest(VOLUME + " is no dataset's id")),
                    wanted.filter(JsonElement::isJsonPrimitive)
                            .map(JsonElement::getAsBoolean)
                            .orElse(false),
                    spec.get(ACCESS) instanceof JsonObject access
                            ? DatasetAccess.Answer.ofStatus(access)
                            : Optional.empty());
        }

        /// The part of a `spec` that changes what is wanted; an answer of before counts no more where nothing is.
        public static JsonObject change(boolean wanted) {
            JsonObject json = new JsonObject();
            json.addProperty(WANTED, wanted);
            if (!wanted) {
                json.add(ACCESS, JsonNull.INSTANCE);
            }
            return json;
        }

        /// The part of a `spec` that answers a node.
        public static JsonObject change(DatasetAccess.Answer answer) {
            JsonObject json = new JsonObject();
            json.add(ACCESS, answer.toStatus());
            return json;
        }
    }

    /// How far a node is.
    public enum State {
        /// It has nothing of it.
        ABSENT("Absent"),
        /// It has asked for the dataset's key, or begins.
        WAITING("Waiting"),
        FILLING("Filling"),
        /// It is whole, and was checked where it was asked for.
        LOCAL("Local"),
        /// It tries again by itself.
        FAILED("Failed");

        private final String text;

        State(String text) {
            this.text = text;
        }

        @Override
        public String toString() {
            return text;
        }

        private static Optional<State> of(String text) {
            return Arrays.stream(values())
                    .filter(state -> state.text.equals(text))
                    .findFirst();
        }
    }

    /// What a node asks for.
    ///
    /// @param request tells this question from earlier ones
    /// @param publicKey what the key is to be sealed with, see [SealedSecret]
    public record Question(String request, String publicKey) {}

    /// What a node says.
    ///
    /// @param percent of the replica that is on a disk
    /// @param bytes what it takes of the cache directory
    /// @param cacheDirectory where it is, or is being made
    /// @param message what went wrong last
    /// @param question what it waits for
    public record Report(
            State state,
            int percent,
            long bytes,
            Optional<String> cacheDirectory,
            Optional<String> message,
            Optional<Question> question) {
        /// That of one who says nothing more.
        public static Report of(State state) {
            return new Report(state, 0, 0, Optional.empty(), Optional.empty(), Optional.empty());
        }

        public static Report failed(String message) {
            return new Report(State.FAILED, 0, 0, Optional.empty(), Optional.of(message), Optional.empty());
        }

        /// That of one who waits for an answer.
        ///
        /// @param trouble what went wrong when it tried before
        public static Report asking(Question question, Optional<String> trouble) {
            State state = trouble.isPresent() ? State.FAILED : State.WAITING;
            return new Report(state, 0, 0, Optional.empty(), trouble, Optional.of(question));
        }

        public static Report filling(int percent, long bytes, String cacheDirectory) {
            return new Report(
                    State.FILLING, percent, bytes, Optional.of(cacheDirectory), Optional.empty(), Optional.empty());
        }

        public static Report local(long bytes, String cacheDirectory) {
            return new Report(State.LOCAL, ALL, bytes, Optional.of(cacheDirectory), Optional.empty(), Optional.empty());
        }

        /// The object's `status`, with all that it can say: what is left out of a patch would stay.
        public JsonObject toStatus() {
            JsonObject json = new JsonObject();
            json.addProperty(STATE, state.toString());
            json.addProperty(PERCENT, percent);
            json.addProperty(BYTES, bytes);
            json.addProperty(CACHE_DIRECTORY, cacheDirectory.orElse(""));
            json.addProperty(MESSAGE, message.orElse(""));
            json.addProperty(REQUEST, question.map(Question::request).orElse(""));
            json.addProperty(PUBLIC_KEY, question.map(Question::publicKey).orElse(""));
            return json;
        }

        /// Reads what [#toStatus] wrote; empty if it is something else, or nothing yet.
        public static Optional<Report> ofStatus(JsonObject status) {
            return text(status, STATE)
                    .flatMap(State::of)
                    .map(state -> new Report(
                            state,
                            (int) number(status, PERCENT),
                            number(status, BYTES),
                            text(status, CACHE_DIRECTORY),
                            text(status, MESSAGE),
                            text(status, REQUEST)
                                    .flatMap(request ->
                                            text(status, PUBLIC_KEY).map(key -> new Question(request, key)))));
        }
    }

    private static long number(JsonObject json, String name) {
        try {
            return Optional.ofNullable(json.get(name))
                    .filter(JsonElement::isJsonPrimitive)
                    .map(JsonElement::getAsLong)
                    .orElse(0L);
        } catch (NumberFormatException notWhole) {
            return 0;
        }
    }

    private static Optional<String> text(JsonObject json, String name) {
        return Optional.ofNullable(json.get(name))
                .filter(JsonElement::isJsonPrimitive)
                .map(JsonElement::getAsString)
                .filter(text -> !text.isEmpty());
    }

    private static String needed(JsonObject json, String name) {
        return text(json, name).orElseThrow(() -> new DriverException.InvalidRequest(name + " is missing"));
    }
}
