package dev.siphon.controller.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.kubernetes.resource.DatasetCheckObject;
import dev.siphon.controller.warm.AdmissionQueue;
import dev.siphon.controller.warm.CheckAnswer;
import dev.siphon.controller.warm.DataCheck;
import dev.siphon.controller.warm.DataCheck.Parameters;
import dev.siphon.controller.warm.QueuedWorkload;
import dev.siphon.controller.warm.QueuedWorkload.CheckState;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.csi.dataset.Digest;
import java.net.HttpURLConnection;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/// Reads Kueue's Workloads, AdmissionChecks and ResourceFlavors. Writes whether a Workload is active, and the state of
/// this driver's checks by server-side apply, as Kueue's own checks do.
final class KubernetesAdmissionQueue implements AdmissionQueue {
    /// The path of Kueue's API, of Kueue 0.15 and later.
    static final String KUEUE = "apis/kueue.x-k8s.io/v1beta2/";

    private static final String VERSION = "kueue.x-k8s.io/v1beta2";
    private static final String APPLY = "application/apply-patch+yaml";
    private static final String MANAGER = "siphon-admission-check";

    /// The longest name of a field manager.
    private static final int LONGEST = 128;

    /// How much of a check's name is left if all of it is too long.
    private static final int BEGINNING = 40;

    private static final String MERGE = "application/merge-patch+json";

    /// The next round sees what it is now.
    private static final List<Integer> GONE_OR_CHANGED =
            List.of(HttpURLConnection.HTTP_NOT_FOUND, HttpURLConnection.HTTP_CONFLICT);

    private static final String CHECKS = KUEUE + "admissionchecks";
    private static final String METADATA = "metadata";
    private static final String SPEC = "spec";
    private static final String STATUS = "status";
    private static final String NAME = "name";
    private static final String MESSAGE = "message";
    private static final int PAGE = 250;

    private final KubernetesApi api;
    private final Informer<QueuedWorkloads.Kept> workloads;
    private final Informer<FoundCheck> checks;
    private final Informer<DataCheck.Flavor> flavors;
    private final Informer<NamedSettings> parameters;

    /// A check of this driver.
    ///
    /// @param reference what its parameters name; empty if it has none
    private record FoundCheck(
            String name, long generation, Optional<Reference> reference, Optional<DataCheck.Active> active) {}

    private record Reference(String group, String kind, String name) {}

    private record NamedSettings(String name, DataCheck.Settings settings) {}

    KubernetesAdmissionQueue(KubernetesApi api, PodParser pods) {
        this.api = api;
        this.workloads = new Informer<>(
                api, QueuedWorkloads.SOURCE, new QueuedWorkloads(new WorkloadParser(pods)), System::nanoTime);
        this.checks = informer(
                "AdmissionChecks of Kueue",
                CHECKS,
                Keep.of(
                        "metadata.name",
                        "metadata.generation",
                        "spec.controllerName",
                        "spec.parameters",
                        "status.conditions"),
                KubernetesAdmissionQueue::check);
        this.flavors = informer(
                "ResourceFlavors of Kueue",
                KUEUE + "resourceflavors",
                Keep.of("metadata.name", "spec.nodeLabels", "spec.tolerations"),
                flavor -> Optional.of(new DataCheck.Flavor(
                        JsonParts.text(flavor, METADATA, NAME).orElse(""),
                        JsonParts.map(flavor, SPEC, "nodeLabels"),
                        PodParser.tolerations(flavor))));
        this.parameters = informer(
                "DatasetChecks",
                "apis/" + DatasetReplica.GROUP + "/" + DatasetReplica.VERSION + "/datasetchecks",
                Keep.of("metadata.name", SPEC),
                this::settings);
    }

    private <T> Informer<T> informer(String kind, String path, Keep keep, Function<JsonObject, Optional<T>> value) {
        return new Informer<>(
                api,
                new Informer.Source(kind, path, "", PAGE, keep),
                (object, _) -> value.apply(object.kept()),
                System::nanoTime);
    }

    @Override
    public List<BackgroundTasks.Task> follow(BackgroundTasks tasks, Runnable changed) {
        return List.of(
                parameters.follow(tasks, changed),
                flavors.follow(tasks, changed),
                checks.follow(tasks, changed),
                workloads.follow(tasks, changed));
    }

    @Override
    public boolean isThere() {
        return true;
    }

    @Override
    public Queued queued() {
        Map<String, DataCheck.Settings> known = parameters.all().stream()
                .collect(Collectors.toMap(NamedSettings::name, NamedSettings::settings, (one, _) -> one));
        List<DataCheck> ours = checks.all().stream()
                .map(check -> new DataCheck(
                        check.name(),
                        check.generation(),
                        check.reference()
                                .map(reference -> parameters(reference, known))
                                .orElse(new Parameters.Valid(DataCheck.Settings.DEFAULT)),
                        check.active()))
                .toList();
        return new Queued(
                workloads.all().stream().map(QueuedWorkloads.Kept::workload).toList(),
                ours,
                flavors.all().stream()
                        .collect(Collectors.toMap(DataCheck.Flavor::name, each -> each, (one, _) -> one)));
    }

    private static Parameters parameters(Reference reference, Map<String, DataCheck.Settings> known) {
        if (!reference.group().equals(DatasetReplica.GROUP) || !reference.kind().equalsIgnoreCase("DatasetCheck")) {
            return new Parameters.Invalid("its parameters must name a DatasetCheck of " + DatasetReplica.GROUP);
        }
        return Optional.ofNullable(known.get(reference.name()))
                .<Parameters>map(Parameters.Valid::new)
                .orElseGet(
                        () -> new Parameters.Invalid("there is no DatasetCheck " + reference.name() + ": create it"));
    }

    private static Optional<FoundCheck> check(JsonObject object) {
        return JsonParts.text(object, SPEC, "controllerName")
                .filter(DataCheck.CONTROLLER::equals)
                .map(_ -> new FoundCheck(
                        JsonParts.text(object, METADATA, NAME).orElse(""),
                        JsonParts.object(object, METADATA)
                                .map(metadata -> JsonParts.number(metadata, "generation"))
                                .orElse(0),
                        JsonParts.object(object, SPEC, "parameters")
                                .map(given -> new Reference(
                                        JsonParts.text(given, "apiGroup").orElse(""),
                                        JsonParts.text(given, "kind").orElse(""),
                                        JsonParts.text(given, NAME).orElse(""))),
                        JsonParts.each(object, STATUS, "conditions")
                                .filter(each -> JsonParts.text(each, "type").equals(Optional.of("Active")))
                                .map(each -> new DataCheck.Active(
                                        JsonParts.text(each, STATUS).equals(Optional.of("True")),
                                        JsonParts.text(each, MESSAGE).orElse("")))
                                .findFirst()));
    }

    private Optional<NamedSettings> settings(JsonObject object) {
        return api.typed(object, DatasetCheckObject.class)
                .flatMap(check -> Optional.ofNullable(check.getSpec())
                        .map(spec -> new NamedSettings(
                                check.getMetadata().getName(),
                                new DataCheck.Settings(
                                        Optional.ofNullable(spec.replicas()).filter(number -> number > 0),
                                        Optional.ofNullable(spec.maxWait()).flatMap(PodParser::duration),
                                        "reject".equals(spec.then()),
                                        "release".equals(spec.whileLoading())))));
    }

    @Override
    public void activate(DataCheck check, DataCheck.Active active) {
        JsonObject condition = new JsonObject();
        condition.addProperty("type", "Active");
        condition.addProperty(STATUS, active.isActive() ? "True" : "False");
        condition.addProperty("reason", active.isActive() ? "Active" : "BadParametersRef");
        condition.addProperty(MESSAGE, active.message());
        condition.addProperty("observedGeneration", check.generation());
        condition.addProperty("lastTransitionTime", now());
        JsonObject object = object("AdmissionCheck", "conditions", condition);
        object.getAsJsonObject(METADATA).addProperty(NAME, check.name());
        send("AdmissionCheck " + check.name(), CHECKS + "/" + check.name(), MANAGER, object);
    }

    @Override
    public void answer(QueuedWorkload workload, String check, CheckAnswer.Given answer) {
        String since = Optional.ofNullable(workload.checks().get(check))
                .filter(before -> before.state() == answer.state())
                .map(CheckState::since)
                .orElseGet(this::now);
        JsonObject state = new JsonObject();
        state.addProperty(NAME, check);
        state.addProperty("state", answer.state().toString());
        state.addProperty("lastTransitionTime", since);
        state.addProperty(MESSAGE, answer.message());
        JsonObject object = object("Workload", "admissionChecks", state);
        JsonObject metadata = object.getAsJsonObject(METADATA);
        metadata.addProperty("namespace", workload.namespace());
        metadata.addProperty(NAME, workload.name());
        identify(metadata, workload);
        send(title(workload), path(workload), manager(check), object);
    }

    @Override
    public void release(QueuedWorkload workload, Instant since, Set<String> checks) {
        change(workload, ReleaseAnnotations.released(now(), since, checks, workload), false);
    }

    @Override
    public void resume(QueuedWorkload workload, boolean isLate) {
        change(workload, ReleaseAnnotations.resumed(workload.release(), isLate), true);
    }

    /// One request, so that a Workload is never deactivated without saying by whom.
    private void change(QueuedWorkload workload, JsonObject annotations, boolean isActive) {
        JsonObject metadata = new JsonObject();
        identify(metadata, workload);
        metadata.add("annotations", annotations);
        JsonObject spec = new JsonObject();
        spec.addProperty("active", isActive);
        JsonObject object = new JsonObject();
        object.add(METADATA, metadata);
        object.add(SPEC, spec);
        boolean _ = api.send(
                (isActive ? "activate " : "deactivate ") + title(workload),
                GONE_OR_CHANGED,
                path(workload),
                request -> request.patch(MERGE, object.toString()));
    }

    /// A Workload that Kueue or somebody else changed meanwhile must not get an answer to how it was.
    private static void identify(JsonObject metadata, QueuedWorkload workload) {
        metadata.addProperty("uid", workload.uid());
        metadata.addProperty("resourceVersion", workload.version());
    }

    private static String title(QueuedWorkload workload) {
        return "Workload " + workload.namespace() + "/" + workload.name();
    }

    private static String path(QueuedWorkload workload) {
        return KUEUE + "namespaces/" + workload.namespace() + "/workloads/" + workload.name();
    }

    private static JsonObject object(String kind, String list, JsonObject element) {
        JsonArray elements = new JsonArray();
        elements.add(element);
        JsonObject status = new JsonObject();
        status.add(list, elements);
        JsonObject object = new JsonObject();
        object.addProperty("apiVersion", VERSION);
        object.addProperty("kind", kind);
        object.add(METADATA, new JsonObject());
        object.add(STATUS, status);
        return object;
    }

    /// Each check has a manager of its own: an apply takes away what the same manager applied before and does not
    /// apply now, so the answer to one check would take away another's.
    private static String manager(String check) {
        String whole = MANAGER + "-" + check;
        return whole.length() <= LONGEST
                ? whole
                : MANAGER + "-" + check.substring(0, BEGINNING) + "-"
                        + Digest.of(ByteBuffer.wrap(check.getBytes(StandardCharsets.UTF_8)));
    }

    private void send(String title, String path, String manager, JsonObject object) {
        boolean _ = api.send(
                "patch status of " + title,
                GONE_OR_CHANGED,
                path + "/status?fieldManager=" + manager + "&force=true",
                request -> request.patch(APPLY, object.toString()));
    }

    private String now() {
        return api.clock().instant().truncatedTo(ChronoUnit.SECONDS).toString();
    }
}
