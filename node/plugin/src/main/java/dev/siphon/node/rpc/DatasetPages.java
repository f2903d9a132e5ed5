package dev.siphon.node.rpc;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.server.HttpCall;
import dev.siphon.csi.server.HttpCall.Reply;
import dev.siphon.node.replica.DatasetName;
import dev.siphon.node.replica.ReadLocation;
import dev.siphon.node.replica.ReplicaState;
import dev.siphon.node.replica.ReplicaStatus;
import dev.siphon.node.replica.Replicas;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/// Reports whether datasets are on this node's disks, for programs that check before they give a pod its GPUs
/// (docs/how-to/gpu-nodes.md, "Programs that ask by themselves"):
///
/// - `GET /v1/datasets`: all that are attached, on a disk, or being filled.
/// - `GET /v1/datasets/NAME`: one; `ready` is true if it is complete on a disk.
/// - `POST /v1/datasets/NAME/warm?wait=SECONDS`: fills or verifies a replica. Returns 200 if it is complete within
///   the time, otherwise 202; the fill continues. Idempotent.
///
/// NAME is a digest, a prefix of one, or the declared name of a dataset that the controller ordered for this node.
/// Never reads contents of a dataset.
public final class DatasetPages implements HttpCall.Pages {
    private static final int ALL_PERCENT = 100;
    private static final int MAX_WAIT_SECONDS = 600;
    private static final int DONE = 200;
    private static final int UNDER_WAY = 202;

    private final Replicas replicas;
    private final Function<String, Optional<VolumeId.DatasetVolume>> declared;

    /// @param declared finds a declared dataset by name, if this node knows it
    public DatasetPages(Replicas replicas, Function<String, Optional<VolumeId.DatasetVolume>> declared) {
        this.replicas = replicas;
        this.declared = declared;
    }

    @Override
    public Reply answer(HttpCall call) {
        List<String> path = call.path();
        if (path.size() < 2 || !path.get(0).equals("v1") || !path.get(1).equals("datasets")) {
            throw new DriverException.NotFound("there is nothing here: see /v1/datasets");
        }
        List<String> rest = path.subList(2, path.size());
        if (rest.isEmpty()) {
            only("GET", call);
            return Reply.json(DONE, list());
        }
        if (rest.size() > 1 && rest.getLast().equals("warm")) {
            only("POST", call);
            return warm(String.join(".", rest.subList(0, rest.size() - 1)), call);
        }
        only("GET", call);
        return Reply.json(DONE, one(String.join(".", rest)));
    }

    private static void only(String method, HttpCall call) {
        if (!call.method().equals(method)) {
            throw new DriverException.InvalidRequest("this takes " + method + ", not " + call.method());
        }
    }

    private JsonObject list() {
        Map<String, List<ReplicaStatus>> byDigest = replicas.list().stream()
                .collect(Collectors.groupingBy(status -> status.digest().hex(), TreeMap::new, Collectors.toList()));
        JsonArray datasets = new JsonArray();
        byDigest.forEach((digest, each) -> datasets.add(dataset(digest, each)));
        JsonArray problems = new JsonArray();
        replicas.cacheProblems().forEach(problems::add);
        JsonObject answer = new JsonObject();
        answer.add("datasets", datasets);
        answer.add("cacheProblems", problems);
        return answer;
    }

    private JsonObject one(String name) {
        Optional<VolumeId.DatasetVolume> known = declared.apply(name);
        try {
            return dataset(find(name, known));
        } catch (DriverException.NotFound e) {
            // it is ordered, but nothing of it is here yet
            return known.map(volume -> dataset(volume.digest(), List.of())).orElseThrow(() -> e);
        }
    }

    private Digest find(String name, Optional<VolumeId.DatasetVolume> known) {
        if (known.isEmpty() && !DatasetName.isOne(name)) {
            throw new DriverException.NotFound("dataset " + QuotedText.of(name) + " is not ordered for this node: warm"
                    + " it with a DatasetWarmup, or give the digest of one that is attached here");
        }
        return replicas.find(
                new DatasetName(known.map(VolumeId.DatasetVolume::digest).orElse(name)));
    }

    private Reply warm(String name, HttpCall call) {
        int seconds = call.number("wait", MAX_WAIT_SECONDS).orElse(0);
        Digest digest = find(name, declared.apply(name));
        try {
            replicas.warm(digest, Duration.ofSeconds(seconds), _ -> {}, call.gone());
            return Reply.json(DONE, dataset(digest));
        } catch (DriverException.DeadlinePassed e) {
            return Reply.json(UNDER_WAY, dataset(digest));
        }
    }

    private JsonObject dataset(Digest digest) {
        return dataset(
                digest.hex(),
                replicas.list().stream()
                        .filter(status -> status.digest().equals(digest))
                        .toList());
    }

    private static JsonObject dataset(String digest, List<ReplicaStatus> replicas) {
        JsonArray all = new JsonArray();
        replicas.forEach(status -> all.add(replica(status)));
        JsonObject json = new JsonObject();
        json.addProperty("digest", digest);
        json.addProperty("ready", replicas.stream().anyMatch(status -> status.state() instanceof ReplicaState.Local));
        json.add("replicas", all);
        return json;
    }

    private static JsonObject replica(ReplicaStatus status) {
        JsonObject json = new JsonObject();
        switch (status.state()) {
            case ReplicaState.Remote _ -> state(json, "remote", 0);
            case ReplicaState.Filling(var percent, var cache) -> {
                state(json, "filling", percent);
                json.addProperty("cacheDirectory", cache.toString());
            }
            case ReplicaState.Queued(var percent, var before) -> {
                state(json, "queued", percent);
                json.addProperty("problem", DatasetReplica.Turn.waiting(before));
            }
            case ReplicaState.Local(var cache) -> {
                state(json, "local", ALL_PERCENT);
                json.addProperty("cacheDirectory", cache.toString());
            }
        }
        json.addProperty("bytes", status.bytes());
        json.addProperty("pinned", status.pinned());
        status.attached()
                .ifPresent(attached -> json.addProperty(
                        "readFrom",
                        switch (attached.place()) {
                            case ReadLocation.Remote _ -> "cephfs";
                            case ReadLocation.Local _ -> "replica";
                        }));
        status.lastUse().ifPresent(use -> json.addProperty("lastUse", use.toString()));
        status.problem().ifPresent(problem -> json.addProperty("problem", problem));
        return json;
    }

    private static void state(JsonObject json, String state, int percent) {
        json.addProperty("state", state);
        json.addProperty("percent", percent);
    }
}
