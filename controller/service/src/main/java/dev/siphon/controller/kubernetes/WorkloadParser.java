package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.warm.GatedPod;
import dev.siphon.controller.warm.NodeRules;
import dev.siphon.controller.warm.QueuedWorkload;
import dev.siphon.controller.warm.QueuedWorkload.CheckState;
import dev.siphon.controller.warm.QueuedWorkload.Phase;
import dev.siphon.controller.warm.QueuedWorkload.PodSet;
import dev.siphon.controller.warm.QueuedWorkload.Release;
import dev.siphon.controller.warm.QueuedWorkload.State;
import dev.siphon.controller.warm.ResourceAmounts;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Reads Workload objects of Kueue (`kueue.x-k8s.io/v1beta2`).
final class WorkloadParser {
    private static final String METADATA = "metadata";
    private static final String SPEC = "spec";
    private static final String STATUS = "status";
    private static final String ADMISSION = "admission";
    private static final String TRUE = "True";

    /// As Kueue says it in the condition `Evicted` after a check told the Workload to retry.
    private static final String BY_CHECK = "AdmissionCheck";

    /// How the reason in the condition `Evicted` begins if Kueue deactivated the Workload by itself.
    private static final String BY_KUEUE = "DeactivatedDueTo";

    /// A Workload that MultiKueue's manager created here. It deletes one that is deactivated, and creates it again.
    private static final String ORIGIN = "kueue.x-k8s.io/multikueue-origin";

    private static final int MOST = 5_000;

    /// The parts to read of a Workload.
    static final Keep PARTS = new Keep(names(), MOST);

    private final PodParser pods;

    WorkloadParser(PodParser pods) {
        this.pods = pods;
    }

    private static Set<String> names() {
        Set<String> names = new HashSet<>(Set.of(
                "metadata.namespace",
                "metadata.name",
                "metadata.uid",
                "metadata.resourceVersion",
                "metadata.deletionTimestamp",
                "metadata.annotations." + ReleaseAnnotations.RELEASED,
                "metadata.annotations." + ReleaseAnnotations.WAIT,
                "metadata.labels." + ORIGIN,
                "spec.active",
                "spec.podSets.name",
                "spec.podSets.count",
                "status.conditions",
                "status.admissionChecks",
                "status.requeueState",
                "status.admission.clusterQueue",
                "status.admission.podSetAssignments.name",
                "status.admission.podSetAssignments.flavors"));
        names.addAll(PodParser.ofTemplate("spec.podSets.template"));
        return names;
    }

    /// A condition of a Workload.
    private record Condition(boolean isTrue, String reason, Instant since) {
        static final Condition MISSING = new Condition(false, "", Instant.EPOCH);
    }

    /// Returns the Workload if data may be wanted for it now.
    Optional<QueuedWorkload> workload(JsonObject object) {
        if (JsonParts.at(object, METADATA, "deletionTimestamp").isPresent()) {
            return Optional.empty();
        }
        Map<String, Condition> conditions = conditions(object);
        Map<String, CheckState> checks = checks(object);
        Optional<Release> release = ReleaseAnnotations.release(
                object, conditions.getOrDefault("Admitted", Condition.MISSING).since());
        return phase(object, conditions, !checks.isEmpty())
                .map(phase -> new QueuedWorkload(
                        JsonParts.text(object, METADATA, "namespace").orElse(""),
                        JsonParts.text(object, METADATA, "name").orElse(""),
                        JsonParts.text(object, METADATA, "uid").orElse(""),
                        JsonParts.text(object, METADATA, "resourceVersion").orElse(""),
                        phase,
                        since(phase, conditions, release),
                        release,
                        JsonParts.text(object, STATUS, ADMISSION, "clusterQueue")
                                .or(() -> ReleaseAnnotations.clusterQueue(object)),
                        isReleasable(object),
                        checks,
                        checks.isEmpty() ? forgotten(object) : Set.of(),
                        podSets(object)));
    }

    /// Kueue forgets at a deactivation how often it put the Workload back into the queue, and until when.
    private static boolean isReleasable(JsonObject object) {
        boolean isOfManager = JsonParts.at(object, METADATA, "labels", ORIGIN).isPresent();
        return !isOfManager
                && JsonParts.object(object, STATUS, "requeueState")
                        .map(JsonObject::isEmpty)
                        .orElse(true);
    }

    /// Without an admission Kueue lists no checks, unless all of the ClusterQueue are for all flavors.
    private static Set<String> forgotten(JsonObject object) {
        return JsonParts.object(object, STATUS, ADMISSION).isPresent() ? Set.of() : ReleaseAnnotations.checks(object);
    }

    /// Returns a pod about which nothing is known.
    static GatedPod nobody(String namespace, String workload) {
        return new GatedPod(
                namespace,
                "",
                workload,
                "",
                Instant.EPOCH,
                Optional.empty(),
                false,
                workload,
                ResourceAmounts.NONE,
                true,
                new NodeRules(Map.of(), Optional.empty(), List.of()),
                List.of());
    }

    private static Instant since(Phase phase, Map<String, Condition> conditions, Optional<Release> release) {
        return switch (phase) {
            case RESERVED ->
                conditions.getOrDefault("QuotaReserved", Condition.MISSING).since();
            case SENT_BACK ->
                conditions.getOrDefault("Evicted", Condition.MISSING).since();
            case LEAVING, RELEASED, REACTIVATED -> release.map(Release::at).orElse(Instant.EPOCH);
        };
    }

    /// @param hasChecks without one, nothing is asked of this driver; but what it deactivated it has to activate
    private static Optional<Phase> phase(JsonObject object, Map<String, Condition> conditions, boolean hasChecks) {
        boolean isActive = !JsonParts.text(object, SPEC, "active").equals(Optional.of("false"));
        Condition evicted = conditions.getOrDefault("Evicted", Condition.MISSING);
        if (is(conditions, "Finished")) {
            return Optional.empty();
        }
        if (ReleaseAnnotations.isReleased(object)) {
            return isActive ? Optional.of(Phase.REACTIVATED) : released(conditions, evicted);
        }
        boolean isOver = !isActive || !hasChecks || is(conditions, "DeactivationTarget");
        if (isOver || (evicted.isTrue() && !evicted.reason().equals(BY_CHECK))) {
            return Optional.empty();
        }
        if (evicted.isTrue()) {
            return Optional.of(Phase.SENT_BACK);
        }
        return is(conditions, "QuotaReserved") && !is(conditions, "Admitted")
                ? Optional.of(Phase.RESERVED)
                : Optional.empty();
    }

    /// Leaves alone what Kueue deactivates for a reason of its own.
    private static Optional<Phase> released(Map<String, Condition> conditions, Condition evicted) {
        boolean isKueues = is(conditions, "DeactivationTarget")
                || (evicted.isTrue() && evicted.reason().startsWith(BY_KUEUE));
        return isKueues
                ? Optional.empty()
                : Optional.of(is(conditions, "QuotaReserved") ? Phase.LEAVING : Phase.RELEASED);
    }

    private static boolean is(Map<String, Condition> conditions, String type) {
        return conditions.getOrDefault(type, Condition.MISSING).isTrue();
    }

    private static Map<String, Condition> conditions(JsonObject object) {
        Map<String, Condition> conditions = new HashMap<>();
        JsonParts.each(object, STATUS, "conditions")
                .forEach(each -> conditions.put(
                        JsonParts.text(each, "type").orElse(""),
                        new Condition(
                                JsonParts.text(each, "status").equals(Optional.of(TRUE)),
                                JsonParts.text(each, "reason").orElse(""),
                                JsonParts.text(each, "lastTransitionTime")
                                        .flatMap(PodParser::time)
                                        .orElse(Instant.EPOCH))));
        return conditions;
    }

    private static Map<String, CheckState> checks(JsonObject object) {
        Map<String, CheckState> checks = new HashMap<>();
        JsonParts.each(object, STATUS, "admissionChecks")
                .forEach(each -> JsonParts.text(each, "state")
                        .flatMap(State::of)
                        .ifPresent(state -> checks.put(
                                JsonParts.text(each, "name").orElse(""),
                                new CheckState(
                                        state,
                                        JsonParts.text(each, "lastTransitionTime")
                                                .orElse(""),
                                        JsonParts.text(each, "message").orElse("")))));
        return checks;
    }

    private List<PodSet> podSets(JsonObject object) {
        Map<String, Set<String>> flavors = new HashMap<>(ReleaseAnnotations.flavors(object));
        JsonParts.each(object, STATUS, ADMISSION, "podSetAssignments")
                .forEach(each -> flavors.put(
                        JsonParts.text(each, "name").orElse(""),
                        Set.copyOf(JsonParts.map(each, "flavors").values())));
        List<PodSet> sets = new ArrayList<>();
        JsonParts.each(object, SPEC, "podSets").forEach(each -> {
            String name = JsonParts.text(each, "name").orElse("");
            sets.add(new PodSet(
                    name,
                    Math.max(0, JsonParts.number(each, "count")),
                    pod(object, name, JsonParts.object(each, "template").orElseGet(JsonObject::new)),
                    flavors.getOrDefault(name, Set.of())));
        });
        return sets;
    }

    /// Returns a pod of a set, as if it waited at the gate.
    private GatedPod pod(JsonObject object, String set, JsonObject template) {
        String workload = JsonParts.text(object, METADATA, "uid").orElse("");
        return new GatedPod(
                JsonParts.text(object, METADATA, "namespace").orElse(""),
                JsonParts.text(object, METADATA, "name").orElse("") + "/" + set,
                workload + "/" + set,
                "",
                Instant.EPOCH,
                Optional.empty(),
                false,
                workload,
                PodParser.needs(template, _ -> true),
                true,
                PodParser.rules(template),
                pods.uses(template));
    }
}
