package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.controller.explain.NamespacedName;
import dev.siphon.controller.imports.DatasetImport;
import dev.siphon.controller.imports.ObservedImport.ClaimState;
import dev.siphon.controller.imports.ObservedImport.FetchState;
import dev.siphon.controller.imports.ObservedImport.Part;
import dev.siphon.controller.imports.ObservedImport.SealState;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Reads what is there of a DatasetImport: claim, Job and VolumeSnapshot. Tenants may have written any of it, so each
/// text is only shown, and each object counts only if it is the import's.
final class ImportStates {
    private static final String METADATA = "metadata";
    private static final String SPEC = "spec";
    private static final String STATUS = "status";
    private static final String MESSAGE = "message";
    private static final String FULL = "AllowanceFull";

    private static final Keep OF_CLAIM = Keep.of(
            "metadata.uid",
            "metadata.deletionTimestamp",
            "metadata.ownerReferences",
            "spec.volumeName",
            "status.phase");

    private static final Keep OF_VOLUME =
            Keep.of("metadata.name", "spec.csi.driver", "spec.csi.volumeHandle", "spec.csi.volumeAttributes");

    private static final Keep OF_JOB = Keep.of(
            "metadata.uid",
            "metadata.deletionTimestamp",
            "metadata.ownerReferences",
            "status.conditions.type",
            "status.conditions.status",
            "status.conditions.reason",
            "status.conditions.message");

    private static final Keep OF_POD = Keep.of(
            "metadata.name",
            "metadata.creationTimestamp",
            "metadata.ownerReferences",
            "status.phase",
            "status.containerStatuses.state.waiting.reason",
            "status.containerStatuses.state.terminated.message",
            "status.containerStatuses.state.terminated.reason",
            "status.containerStatuses.state.terminated.exitCode");

    private static final Keep OF_SNAPSHOT = Keep.of(
            "metadata.uid",
            "metadata.deletionTimestamp",
            "metadata.ownerReferences",
            "status.readyToUse",
            "status.boundVolumeSnapshotContentName",
            "status.error.message");

    private static final Keep OF_CONTENT = Keep.of("spec.volumeSnapshotRef.uid", "status.snapshotHandle");

    /// A gRPC error in the message of a sidecar.
    private static final Pattern CODE = Pattern.compile("code = (\\w{2,30}) desc = ");

    /// The codes that a retry does not change.
    private static final Set<String> FINAL =
            Set.of("FailedPrecondition", "AlreadyExists", "InvalidArgument", "PermissionDenied", "OutOfRange");

    private static final Set<String> REASONS = Set.of(
            "WrongChecksum",
            "WrongKey",
            "TooLarge",
            "TooManyFiles",
            "UnsafeArchive",
            "Malformed",
            "TooSlow",
            "ForbiddenAddress",
            "NotFound",
            "SourceUnavailable",
            "NoRoom",
            "Io");

    /// A pod's termination message has at most as many bytes (Kubernetes, "Determine the reason for pod failure").
    private static final int MOST_WORDS = 4096;

    private final KubernetesApi api;
    private final String driver;
    private final KubernetesObjects objects;

    ImportStates(KubernetesApi api, String driver) {
        this.api = api;
        this.driver = driver;
        this.objects = new KubernetesObjects(api, driver);
    }

    private Optional<JsonObject> get(String kind, String path, Keep keep) {
        return ObjectParts.find(api, "get " + kind, path, keep).map(ObjectParts::kept);
    }

    private static boolean isEnding(JsonObject object) {
        return JsonParts.text(object, METADATA, "deletionTimestamp").isPresent();
    }

    /// Returns whether an object that is not the import's is about to be gone.
    private static boolean isLeaving(JsonObject object, DatasetImport of) {
        return ImportObjects.isOfEarlier(object, of) || isEnding(object);
    }

    ClaimState claim(DatasetImport of) {
        Optional<JsonObject> found = get(
                "PersistentVolumeClaim of " + of,
                KubernetesImports.claims(of.namespace()) + "/" + of.fetchName(),
                OF_CLAIM);
        if (found.isEmpty()) {
            return new Part.Absent();
        }
        JsonObject claim = found.get();
        if (!ImportObjects.isOwned(claim, of)) {
            return isLeaving(claim, of) ? new Part.Leaving() : new Part.Foreign();
        }
        if (isEnding(claim)) {
            return new Part.Ending();
        }
        return JsonParts.text(claim, STATUS, "phase").equals(Optional.of("Bound"))
                ? bound(JsonParts.text(claim, SPEC, "volumeName").orElse(""))
                : unbound(of, JsonParts.text(claim, METADATA, "uid").orElse(""));
    }

    private ClaimState bound(String volume) {
        Optional<JsonObject> found = NamespacedName.isPart(volume)
                ? get("PersistentVolume " + volume, "api/v1/persistentvolumes/" + volume, OF_VOLUME)
                : Optional.empty();
        Optional<VolumeId.Provisioned> id = found.flatMap(object -> PersistentVolumes.volume(object, driver))
                .filter(VolumeId.Provisioned.class::isInstance)
                .map(VolumeId.Provisioned.class::cast);
        String path = found.flatMap(object -> JsonParts.text(object, SPEC, "csi", "volumeAttributes", "mountPath"))
                .orElse("");
        return id.<ClaimState>map(known -> new ClaimState.Bound(known, path))
                .orElseGet(() -> new ClaimState.Waiting("its volume is not Siphon's: the administrator has to set"
                        + " imports.storageClassName of the chart to a class of Siphon"));
    }

    private ClaimState unbound(DatasetImport of, String uid) {
        String said = lastWarning("PersistentVolumeClaim", of.namespace(), of.fetchName(), uid);
        return code(said).equals(Optional.of("ResourceExhausted"))
                ? new ClaimState.NoRoom("no room for a volume of " + of.sizeBytes() + " bytes: " + meant(said)
                        + "; delete what you need no more, or ask for a smaller size, and apply it again")
                : new ClaimState.Waiting(said.isEmpty() ? "its volume is being created" : said);
    }

    private String lastWarning(String kind, String namespace, String name, String uid) {
        return objects.events(kind, new NamespacedName(namespace, name), uid).stream()
                .filter(event -> event.warning())
                .reduce((_, last) -> last)
                .map(event -> event.message())
                .orElse("");
    }

    private static Optional<String> code(String said) {
        Matcher code = CODE.matcher(said);
        return code.find() ? Optional.of(code.group(1)) : Optional.empty();
    }

    /// Returns the driver's own words in a sidecar's message.
    private static String meant(String said) {
        Matcher code = CODE.matcher(said);
        return code.find() ? said.substring(code.end()) : said;
    }

    FetchState fetch(DatasetImport of) {
        Optional<JsonObject> found =
                get("Job of " + of, KubernetesImports.jobs(of.namespace()) + "/" + of.fetchName(), OF_JOB);
        if (found.isEmpty()) {
            return new Part.Absent();
        }
        JsonObject job = found.get();
        if (!ImportObjects.isOwned(job, of)) {
            return isLeaving(job, of) ? new Part.Leaving() : new Part.Foreign();
        }
        if (isEnding(job)) {
            return new Part.Ending();
        }
        if (KubernetesSealing.hasCondition(job, "Complete")) {
            return new FetchState.Done();
        }
        Optional<JsonObject> pod =
                newest(of, JsonParts.text(job, METADATA, "uid").orElse(""));
        return KubernetesSealing.hasCondition(job, "Failed") ? failed(job, pod) : working(of, pod);
    }

    private static FetchState failed(JsonObject job, Optional<JsonObject> pod) {
        boolean isLate = JsonParts.each(job, STATUS, "conditions")
                .anyMatch(each -> JsonParts.text(each, "reason").equals(Optional.of("DeadlineExceeded")));
        if (isLate) {
            return new FetchState.Failed(
                    "TooSlow",
                    "the fetch took longer than this cluster allows (imports.limits.seconds): fetch it in parts");
        }
        return pod.flatMap(ImportStates::ended)
                .map(ImportStates::lastWords)
                .orElseGet(() -> new FetchState.Failed(
                        "FetchFailed", "its Job has failed, and no pod is left that says why: apply it again"));
    }

    private static Optional<JsonObject> ended(JsonObject pod) {
        return JsonParts.each(pod, STATUS, "containerStatuses")
                .flatMap(container -> JsonParts.object(container, "state", "terminated").stream())
                .findFirst();
    }

    /// Reads what a fetcher says at its end. It is the tenant's process, so the text is only shown.
    static FetchState.Failed lastWords(JsonObject ended) {
        String text = JsonParts.text(ended, MESSAGE).orElse("");
        try {
            JsonObject said = text.length() <= MOST_WORDS && text.startsWith("{")
                    ? JsonParser.parseString(text).getAsJsonObject()
                    : new JsonObject();
            return new FetchState.Failed(
                    JsonParts.text(said, "reason").filter(REASONS::contains).orElse("FetchFailed"),
                    JsonParts.text(said, MESSAGE).orElseGet(() -> exit(ended)));
        } catch (JsonParseException | IllegalStateException broken) {
            return new FetchState.Failed("FetchFailed", exit(ended));
        }
    }

    private static String exit(JsonObject ended) {
        return "the fetcher ended with " + JsonParts.text(ended, "reason").orElse("an error") + ", exit code "
                + JsonParts.text(ended, "exitCode").orElse("unknown")
                + ": if it was its memory, ask an administrator to raise imports.memory; then apply it again";
    }

    private FetchState working(DatasetImport of, Optional<JsonObject> pod) {
        String phase = pod.flatMap(it -> JsonParts.text(it, STATUS, "phase")).orElse("missing");
        return new FetchState.Running(
                switch (phase) {
                    case "Running" -> "fetches";
                    case "Failed" ->
                        "is tried again: "
                                + pod.flatMap(ImportStates::ended)
                                        .map(ended -> lastWords(ended).message())
                                        .orElse("its pod is gone");
                    case "Succeeded" -> "has fetched all";
                    default ->
                        "its pod does not run yet: if that stays so, `kubectl -n " + of.namespace()
                                + " describe job,pod -l batch.kubernetes.io/job-name=" + of.fetchName() + "` says why";
                });
    }

    private Optional<JsonObject> newest(DatasetImport of, String job) {
        AtomicReference<JsonObject> newest = new AtomicReference<>(new JsonObject());
        Consumer<ObjectParts> read = pod -> {
            boolean isOurs = JsonParts.each(pod.kept(), METADATA, "ownerReferences")
                    .anyMatch(owner -> JsonParts.text(owner, "uid").equals(Optional.of(job)));
            if (isOurs && created(newest.get()).compareTo(created(pod.kept())) <= 0) {
                newest.set(pod.kept());
            }
        };
        // one page: a Job has fewer pods, and a tenant may label thousands
        boolean _ = api.pages(
                "list Pods of " + of,
                "api/v1/namespaces/" + of.namespace()
                        + "/pods?limit=100&labelSelector=batch.kubernetes.io%2Fcontroller-uid%3D" + job,
                body -> ObjectParts.page(body, OF_POD, read),
                _ -> "");
        return Optional.of(newest.get()).filter(pod -> !created(pod).isEmpty());
    }

    private static String created(JsonObject pod) {
        return JsonParts.text(pod, METADATA, "creationTimestamp").orElse("");
    }

    SealState seal(DatasetImport of, String dataset) {
        Optional<JsonObject> found = get(
                "VolumeSnapshot of " + of, KubernetesImports.snapshots(of.namespace()) + "/" + of.name(), OF_SNAPSHOT);
        if (found.isEmpty()) {
            return new Part.Absent();
        }
        JsonObject snapshot = found.get();
        if (!ImportObjects.isOwned(snapshot, of)) {
            return isLeaving(snapshot, of) ? new Part.Leaving() : new Part.Foreign();
        }
        if (isEnding(snapshot)) {
            return new Part.Ending();
        }
        if (JsonParts.text(snapshot, STATUS, "readyToUse").equals(Optional.of("true"))) {
            return path(snapshot)
                    .map(path -> sealed(path, dataset))
                    .orElseGet(() -> new SealState.Packing("its snapshot is being bound"));
        }
        String error = JsonParts.text(snapshot, STATUS, "error", MESSAGE).orElse("");
        Optional<String> code = code(error);
        if (code.equals(Optional.of("ResourceExhausted"))) {
            return new SealState.Refused(
                    FULL,
                    "no room for the snapshot and the image: " + meant(error)
                            + "; delete what you need no more, and apply it again");
        }
        if (code.filter(FINAL::contains).isPresent()) {
            return new SealState.Refused("SealingFailed", meant(error));
        }
        return new SealState.Packing(
                progress(of, JsonParts.text(snapshot, METADATA, "uid").orElse("")));
    }

    private String progress(DatasetImport of, String uid) {
        return objects.events("VolumeSnapshot", new NamespacedName(of.namespace(), of.name()), uid).stream()
                .reduce((_, last) -> last)
                .map(event -> event.message())
                .orElse("its snapshot is being taken");
    }

    private SealState sealed(String path, String dataset) {
        return KubernetesDatasetCatalog.get(api, dataset)
                .<SealState>map(
                        found -> Optional.ofNullable(found.spec().path()).equals(Optional.of(path))
                                ? new SealState.Sealed()
                                : new SealState.Replaced())
                .orElse(new SealState.Undeclared());
    }

    /// Returns where the dataset of a snapshot must lie: its handle leads to the image's directory.
    private Optional<String> path(JsonObject snapshot) {
        Optional<String> uid = JsonParts.text(snapshot, METADATA, "uid");
        return JsonParts.text(snapshot, STATUS, "boundVolumeSnapshotContentName")
                .filter(NamespacedName::isPart)
                .flatMap(content -> get(
                        "VolumeSnapshotContent " + content,
                        "apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents/" + content,
                        OF_CONTENT))
                .filter(content -> JsonParts.text(content, SPEC, "volumeSnapshotRef", "uid")
                        .equals(uid))
                .flatMap(content -> JsonParts.text(content, STATUS, "snapshotHandle"))
                .flatMap(SnapshotId::tryParse)
                .flatMap(DatasetPlace::of)
                .map(DatasetPlace::path);
    }
}
