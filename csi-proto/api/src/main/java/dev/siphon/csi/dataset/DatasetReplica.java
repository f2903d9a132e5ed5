package dev.siphon.csi.dataset;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Arrays;
import java.util.Optional;

/// The order for a node to keep a replica of a dataset before any pod needs it. It is a Kubernetes object
/// `DatasetReplica` per dataset and node. The controller writes its `spec`, the node its `status`. This file
/// defines all names in that JSON.
public final class DatasetReplica {
    /// The object's kind.
    public static final String KIND = "DatasetReplica";

    /// The API group of the object, below an API server's `/apis`.
    public static final String GROUP = DatasetAccess.GROUP;

    public static final String VERSION = DatasetAccess.VERSION;
    public static final String PLURAL = "datasetreplicas";

    /// The field by which a node selects its own objects.
    public static final String NODE_FIELD = "spec.node";

    private static final String DATASET = "dataset";
    private static final String NODE = "node";
    private static final String VOLUME = "volume";
    private static final String WANTED = "wanted";
    private static final String ACCESS = "access";
    private static final String REQUEST = "request";
    private static final String PUBLIC_KEY = "publicKey";
    private static final String TURN = "turn";
    private static final String GIVEN = "given";
    private static final String BEFORE = "before";
    private static final String SINCE = "since";
    private static final String RENEWED = "renewed";
    private static final String STATE = "state";
    private static final String PERCENT = "percent";
    private static final String BYTES = "bytes";
    private static final String PROGRESS = "progressBytes";
    private static final String CACHE_DIRECTORY = "cacheDirectory";
    private static final String MESSAGE = "message";
    private static final int ALL = 100;

    private DatasetReplica() {}

    /// The controller's order to a node.
    ///
    /// @param dataset the declared name of the dataset
    /// @param volume its volume id without a claim
    /// @param wanted whether to make a replica, or only to report what exists
    /// @param access the reply to the node's last request; empty if there is none
    /// @param turn the node's place in the cluster's queue of fills; empty if it waits for no turn
    public record Order(
            String dataset,
            String node,
            VolumeId.DatasetVolume volume,
            boolean wanted,
            Optional<DatasetAccess.Answer> access,
            Optional<Turn> turn) {
        /// An order without a turn.
        public Order(
                String dataset,
                String node,
                VolumeId.DatasetVolume volume,
                boolean wanted,
                Optional<DatasetAccess.Answer> access) {
            this(dataset, node, volume, wanted, access, Optional.empty());
        }

        /// Returns the same order with another turn.
        public Order with(Optional<Turn> now) {
            return new Order(dataset, node, volume, wanted, access, now);
        }

        /// Returns the object's `spec`.
        public JsonObject toSpec() {
            JsonObject json = new JsonObject();
            json.addProperty(DATASET, dataset);
            json.addProperty(NODE, node);
            json.addProperty(VOLUME, volume.toString());
            json.addProperty(WANTED, wanted);
            access.ifPresent(answer -> json.add(ACCESS, answer.toStatus()));
            turn.ifPresent(place -> json.add(TURN, place.toJson()));
            return json;
        }

        /// Returns whether another order has the same `spec`, whatever its turn.
        public boolean asksTheSame(Order other) {
            return with(Optional.empty())
                    .toSpec()
                    .equals(other.with(Optional.empty()).toSpec());
        }

        /// Parses the JSON of [#toSpec].
        ///
        /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is anything else
        public static Order ofSpec(JsonObject spec) {
            Optional<JsonElement> wanted = Optional.ofNullable(spec.get(WANTED));
            return new Order(
                    needed(spec, DATASET),
                    needed(spec, NODE),
                    VolumeId.DatasetVolume.tryParse(needed(spec, VOLUME))
                            .orElseThrow(() -> new DriverException.InvalidRequest(VOLUME + " is not a dataset's id")),
                    wanted.filter(JsonElement::isJsonPrimitive)
                            .map(JsonElement::getAsBoolean)
                            .orElse(false),
                    spec.get(ACCESS) instanceof JsonObject access
                            ? DatasetAccess.Answer.ofStatus(access)
                            : Optional.empty(),
                    spec.get(TURN) instanceof JsonObject turn ? Turn.of(turn) : Optional.empty());
        }

        /// Returns the patch of a `spec` that changes `wanted`. If nothing is wanted, it also removes the earlier
        /// reply.
        public static JsonObject change(boolean wanted) {
            JsonObject json = new JsonObject();
            json.addProperty(WANTED, wanted);
            if (!wanted) {
                json.add(ACCESS, JsonNull.INSTANCE);
            }
            return json;
        }

        /// Returns the patch of a `spec` with a reply to the node.
        public static JsonObject change(DatasetAccess.Answer answer) {
            JsonObject json = new JsonObject();
            json.add(ACCESS, answer.toStatus());
            return json;
        }

        /// Returns the patch of a `spec` that sets the node's turn, or takes it away.
        public static JsonObject change(Optional<Turn> turn) {
            JsonObject json = new JsonObject();
            json.add(TURN, turn.<JsonElement>map(Turn::toJson).orElse(JsonNull.INSTANCE));
            return json;
        }
    }

    /// A node's place in the cluster's queue of fills. The controller writes it if the cluster has a limit.
    ///
    /// @param isGiven whether the node may fill the replica now
    /// @param before how many fills wait before it; 0 if it is given
    /// @param progressBytes the fill's [Report#progressBytes] at `renewed`
    /// @param since when the wait began, or the turn was given
    /// @param renewed when the controller confirmed the wait, or saw progress, by its clock
    public record Turn(boolean isGiven, int before, long progressBytes, Instant since, Instant renewed) {
        private static final Instant LATEST = Instant.parse("9999-01-01T00:00:00Z");

        private JsonObject toJson() {
            JsonObject json = new JsonObject();
            json.addProperty(GIVEN, isGiven);
            json.addProperty(BEFORE, before);
            json.addProperty(PROGRESS, progressBytes);
            json.addProperty(SINCE, since.toString());
            json.addProperty(RENEWED, renewed.toString());
            return json;
        }

        /// Returns what a JSON object says; empty if it is no turn.
        private static Optional<Turn> of(JsonObject json) {
            try {
                return Optional.of(new Turn(
                                Optional.ofNullable(json.get(GIVEN))
                                        .filter(JsonElement::isJsonPrimitive)
                                        .map(JsonElement::getAsBoolean)
                                        .orElse(false),
                                (int) number(json, BEFORE),
                                number(json, PROGRESS),
                                time(json, SINCE),
                                time(json, RENEWED)))
                        .filter(turn -> isOrdinary(turn.since()) && isOrdinary(turn.renewed()));
            } catch (DateTimeParseException _) {
                return Optional.empty();
            }
        }

        private static Instant time(JsonObject json, String name) {
            return Instant.parse(text(json, name).orElse(""));
        }

        /// Whether a time can be calculated with.
        private static boolean isOrdinary(Instant time) {
            return time.isAfter(Instant.EPOCH) && time.isBefore(LATEST);
        }

        /// Returns the place in words.
        public static String waiting(int before) {
            return "waits for its turn: " + before + " before it";
        }
    }

    /// The progress of a node.
    public enum State {
        /// the node has no replica and makes none; it may have a part of one, which it left
        ABSENT("Absent"),
        /// the node has requested the dataset's key, or is about to start
        WAITING("Waiting"),
        /// the node waits for its turn to fill the replica
        QUEUED("Queued"),
        /// the node copies or checks the replica at this moment
        FILLING("Filling"),
        /// the replica is complete; if it was ordered, it was also verified
        LOCAL("Local"),
        /// the node retries by itself
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

    /// A node's request for a key.
    ///
    /// @param request distinguishes this request from earlier ones
    /// @param publicKey the key to seal the reply with, see [EncryptedSecret]
    public record Question(String request, String publicKey) {}

    /// A node's report.
    ///
    /// @param percent the part of the replica that is on a disk
    /// @param bytes its size in the cache directory
    /// @param progressBytes how much this run of the driver has copied and checked for it; a fill changes it
    /// @param cacheDirectory where the replica is, or is being made
    /// @param message the last error, or what the node waits for
    /// @param question the request that awaits a reply
    public record Report(
            State state,
            int percent,
            long bytes,
            long progressBytes,
            Optional<String> cacheDirectory,
            Optional<String> message,
            Optional<Question> question) {
        /// Returns a report of the state alone.
        public static Report of(State state) {
            return new Report(state, 0, 0, 0, Optional.empty(), Optional.empty(), Optional.empty());
        }

        public static Report failed(String message) {
            return new Report(State.FAILED, 0, 0, 0, Optional.empty(), Optional.of(message), Optional.empty());
        }

        /// Returns the report of a node that waits for a reply.
        ///
        /// @param trouble the error of an earlier try
        public static Report asking(Question question, Optional<String> trouble) {
            State state = trouble.isPresent() ? State.FAILED : State.WAITING;
            return new Report(state, 0, 0, 0, Optional.empty(), trouble, Optional.of(question));
        }

        public static Report filling(int percent, long bytes, String cacheDirectory) {
            return new Report(
                    State.FILLING, percent, bytes, 0, Optional.of(cacheDirectory), Optional.empty(), Optional.empty());
        }

        /// Returns the report of a node that waits for its turn.
        ///
        /// @param before how many fills wait before this one
        public static Report queued(int percent, int before) {
            return new Report(
                    State.QUEUED, percent, 0, 0, Optional.empty(), Optional.of(Turn.waiting(before)), Optional.empty());
        }

        public static Report local(long bytes, String cacheDirectory) {
            return new Report(
                    State.LOCAL, ALL, bytes, 0, Optional.of(cacheDirectory), Optional.empty(), Optional.empty());
        }

        /// Returns the same report with the progress of the fill.
        public Report withProgress(long copiedAndChecked) {
            return new Report(state, percent, bytes, copiedAndChecked, cacheDirectory, message, question);
        }

        /// Returns the same report with the part of a replica that is on a disk.
        public Report withPart(int done, long size, String directory) {
            return new Report(state, done, size, progressBytes, Optional.of(directory), message, question);
        }

        /// Returns the object's `status` with all fields: a patch would keep the value of a missing one.
        public JsonObject toStatus() {
            JsonObject json = new JsonObject();
            json.addProperty(STATE, state.toString());
            json.addProperty(PERCENT, percent);
            json.addProperty(BYTES, bytes);
            json.addProperty(PROGRESS, progressBytes);
            json.addProperty(CACHE_DIRECTORY, cacheDirectory.orElse(""));
            json.addProperty(MESSAGE, message.orElse(""));
            json.addProperty(REQUEST, question.map(Question::request).orElse(""));
            json.addProperty(PUBLIC_KEY, question.map(Question::publicKey).orElse(""));
            return json;
        }

        /// Parses the JSON of [#toStatus]; empty if it is anything else, or not written yet.
        public static Optional<Report> ofStatus(JsonObject status) {
            return text(status, STATE)
                    .flatMap(State::of)
                    .map(state -> new Report(
                            state,
                            (int) number(status, PERCENT),
                            number(status, BYTES),
                            number(status, PROGRESS),
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
