package dev.siphon.controller.kubernetes;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.imports.DatasetImport;
import dev.siphon.controller.imports.ImportSource;
import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// The objects that are created for a DatasetImport. An administrator's PodTemplate defines how the fetcher's pod runs
/// (image, memory, isolation); this class defines what it fetches, as whom, and which volumes it sees.
///
/// @param template the PodTemplate
record ImportObjects(JsonObject template, DatasetImport wanted) {
    static final String KIND = "DatasetImport";
    static final String VERSION = "siphon.dev/v1alpha1";

    /// The PodTemplate's annotations: class of the volume, class of the snapshot, and how long a fetch may take.
    static final String STORAGE_CLASS = "siphon.dev/storage-class";

    static final String SNAPSHOT_CLASS = "siphon.dev/snapshot-class";
    static final String LONGEST = "siphon.dev/longest-seconds";

    /// The fetcher's exit code if a retry cannot help.
    static final int EXIT_FAILED = 2;

    /// Retries of a Job: a fetcher resumes where the one before it stopped.
    private static final int MORE_TRIES = 5;

    private static final int A_DAY = 24 * 3600;
    private static final String TARGET = "/target";
    private static final String SOURCE = "/source";
    private static final String CREDENTIALS = "/credentials";

    /// The keys of a Secret that a fetcher gets to see, and no other.
    private static final List<String> KEYS =
            List.of("token", "username", "password", "access-key", "secret-key", "session-token");

    private static final int READABLE = 0444;
    private static final String SPEC = "spec";
    private static final String METADATA = "metadata";

    JsonObject claim() {
        return object(
                "v1",
                "PersistentVolumeClaim",
                wanted.fetchName(),
                Map.of(
                        "accessModes",
                        List.of("ReadWriteMany"),
                        "storageClassName",
                        annotation(STORAGE_CLASS),
                        "resources",
                        Map.of("requests", Map.of("storage", Long.toString(wanted.sizeBytes())))));
    }

    JsonObject snapshot() {
        return object(
                "snapshot.storage.k8s.io/v1",
                "VolumeSnapshot",
                wanted.name(),
                Map.of(
                        "volumeSnapshotClassName",
                        annotation(SNAPSHOT_CLASS),
                        "source",
                        Map.of("persistentVolumeClaimName", wanted.fetchName())));
    }

    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the PodTemplate has no container
    JsonObject job(Account account) {
        JsonObject pod = JsonParts.object(template, "template")
                .orElseThrow(ImportObjects::wrong)
                .deepCopy();
        JsonObject spec = JsonParts.object(pod, SPEC).orElseThrow(ImportObjects::wrong);
        JsonObject container = JsonParts.each(spec, "containers").findFirst().orElseThrow(ImportObjects::wrong);
        args().forEach(arg -> add(container, "args", arg));
        mount(spec, container, "target", TARGET, false, claimed(wanted.fetchName(), false));
        if (wanted.source() instanceof ImportSource.Claim(var claim, var _)) {
            mount(spec, container, "source", SOURCE, true, claimed(claim, true));
        }
        wanted.source()
                .secret()
                .ifPresent(secret -> mount(
                        spec, container, "credentials", CREDENTIALS, true, Map.of("secret", credentials(secret))));
        JsonObject user = JsonParts.object(spec, "securityContext").orElseGet(JsonObject::new);
        user.addProperty("runAsNonRoot", true);
        user.addProperty("runAsUser", Integer.toUnsignedLong(account.uid()));
        user.addProperty("runAsGroup", Integer.toUnsignedLong(account.gid()));
        spec.add("securityContext", user);
        JsonObject job = object(
                "batch/v1",
                "Job",
                wanted.fetchName(),
                Map.of(
                        "backoffLimit",
                        MORE_TRIES,
                        "activeDeadlineSeconds",
                        longest(),
                        "podFailurePolicy",
                        Map.of("rules", List.of(PackerObjects.DRAINED, FAILED))));
        job.getAsJsonObject(SPEC).add("template", pod);
        return job;
    }

    /// Fails the Job without a retry.
    private static final Map<String, Object> FAILED =
            Map.of("action", "FailJob", "onExitCodes", Map.of("operator", "In", "values", List.of(EXIT_FAILED)));

    private int longest() {
        try {
            return Integer.parseInt(annotation(LONGEST));
        } catch (NumberFormatException none) {
            return A_DAY;
        }
    }

    private String annotation(String key) {
        return JsonParts.map(template, METADATA, "annotations").getOrDefault(key, "");
    }

    private static Map<String, Object> claimed(String claim, boolean readOnly) {
        return Map.of("persistentVolumeClaim", Map.of("claimName", claim, "readOnly", readOnly));
    }

    /// Optional, so that a fetcher starts without the Secret and says that it is missing.
    private static Map<String, Object> credentials(String secret) {
        return Map.of(
                "secretName",
                secret,
                "optional",
                true,
                "defaultMode",
                READABLE,
                "items",
                KEYS.stream().map(key -> Map.of("key", key, "path", key)).toList());
    }

    private static void mount(
            JsonObject spec,
            JsonObject container,
            String name,
            String path,
            boolean readOnly,
            Map<String, Object> volume) {
        JsonObject source = new Gson().toJsonTree(volume).getAsJsonObject();
        source.addProperty("name", name);
        add(spec, "volumes", source);
        add(container, "volumeMounts", Map.of("name", name, "mountPath", path, "readOnly", readOnly));
    }

    private static void add(JsonObject to, String list, Object element) {
        JsonArray elements = Optional.ofNullable(to.getAsJsonArray(list)).orElseGet(JsonArray::new);
        elements.add(tree(element));
        to.add(list, elements);
    }

    private List<String> args() {
        List<String> args = new ArrayList<>(List.of("--into=" + TARGET, "--max-bytes=" + wanted.sizeBytes()));
        switch (wanted.source()) {
            case ImportSource.Https https -> {
                args.add("--url=" + https.url());
                https.sha256().ifPresent(digest -> args.add("--sha256=" + digest));
            }
            case ImportSource.S3 s3 -> {
                args.addAll(List.of(
                        "--s3-endpoint=" + s3.endpoint(), "--s3-bucket=" + s3.bucket(), "--s3-prefix=" + s3.prefix()));
                s3.region().ifPresent(region -> args.add("--s3-region=" + region));
            }
            case ImportSource.Claim claim -> args.add("--from=" + SOURCE + "/" + claim.path());
            case ImportSource.Unusable(var why) -> throw new DriverException.InUse(why);
        }
        wanted.source().secret().ifPresent(_ -> args.add("--credentials=" + CREDENTIALS));
        // the kubelet replaces $(NAME) in arguments, and any $$ by $ (`third_party/forked/golang/expansion`)
        return args.stream().map(arg -> arg.replace("$", "$$")).toList();
    }

    private JsonObject object(String version, String kind, String name, Map<String, Object> spec) {
        Map<String, Object> owner =
                Map.of("apiVersion", VERSION, "kind", KIND, "name", wanted.name(), "uid", wanted.uid());
        return tree(Map.of(
                        "apiVersion",
                        version,
                        "kind",
                        kind,
                        METADATA,
                        Map.of(
                                "name",
                                name,
                                "namespace",
                                wanted.namespace(),
                                "labels",
                                Map.of(KeySecret.MANAGED_BY, KeySecret.SIPHON),
                                "ownerReferences",
                                List.of(owner)),
                        SPEC,
                        spec))
                .getAsJsonObject();
    }

    /// Whether an object is the import's. People of the namespace can write this reference, too, but gain nothing by
    /// it: they may create such claims, Jobs and snapshots themselves.
    static boolean isOwned(JsonObject object, DatasetImport by) {
        return owners(object)
                .anyMatch(owner -> JsonParts.text(owner, "uid").equals(Optional.of(by.uid()))
                        && JsonParts.text(owner, "kind").equals(Optional.of(KIND)));
    }

    /// Returns whether an object belongs to an import of the same name that is gone: Kubernetes will delete it.
    static boolean isOfEarlier(JsonObject object, DatasetImport now) {
        return owners(object)
                .anyMatch(owner -> JsonParts.text(owner, "kind").equals(Optional.of(KIND))
                        && JsonParts.text(owner, "name").equals(Optional.of(now.name()))
                        && !JsonParts.text(owner, "uid").equals(Optional.of(now.uid())));
    }

    private static Stream<JsonObject> owners(JsonObject object) {
        return JsonParts.each(object, METADATA, "ownerReferences");
    }

    private static DriverException.InUse wrong() {
        return new DriverException.InUse(
                "PodTemplate " + KubernetesImports.TEMPLATE + " has no container: restore it from the chart");
    }

    private static JsonElement tree(Object value) {
        return new Gson().toJsonTree(value);
    }
}
