package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.warm.DataReadiness;
import dev.siphon.controller.warm.GatedPod;
import dev.siphon.controller.warm.NodeRules;
import dev.siphon.controller.warm.ResourceAmounts;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Reads pod objects: what they request, where they may run, and which datasets they use.
final class PodParser {
    /// Labels of jobs' pods without a ReplicaSet: scheduler-plugins, JobSet, Kubeflow's operators, and Kubernetes
    /// itself.
    private static final List<String> GROUP_LABELS = List.of(
            "scheduling.x-k8s.io/pod-group",
            "jobset.sigs.k8s.io/jobset-name",
            "training.kubeflow.org/job-name",
            "batch.kubernetes.io/job-name");

    /// The annotation that Volcano uses for this.
    private static final String GROUP_ANNOTATION = "scheduling.k8s.io/group-name";

    /// Selects the pods that are on a node and have not ended, so that they take resources of it.
    static final String RUNNING =
            "&fieldSelector=spec.nodeName%21%3D%2Cstatus.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

    private static final List<String> OF_NEEDS = List.of(
            "spec.overhead",
            "spec.resources.requests",
            "spec.containers.resources.requests",
            "spec.initContainers.resources.requests",
            "spec.initContainers.restartPolicy");

    private static final List<String> OF_USES = List.of(
            "spec.volumes.name",
            "spec.volumes.csi.driver",
            "spec.volumes.csi.volumeAttributes.dataset",
            "spec.volumes.persistentVolumeClaim.claimName",
            // only shows that the volume is ephemeral
            "spec.volumes.ephemeral.volumeClaimTemplate.metadata.name");

    /// The parts that [#needs], [#uses] and [#isDataReady] read, with the pod's identity and node.
    static final Keep OF_RUNNING = keep(List.of(
            OF_NEEDS,
            OF_USES,
            List.of(
                    "metadata.namespace",
                    "metadata.name",
                    "metadata.uid",
                    "spec.nodeName",
                    "status.conditions.type",
                    "status.conditions.status")));

    /// The parts that [#gated] reads, and those needed to open the gate.
    static final Keep OF_GATED = keep(List.of(
            OF_NEEDS,
            OF_USES,
            GROUP_LABELS.stream().map(label -> "metadata.labels." + label).toList(),
            List.of(
                    "metadata.namespace",
                    "metadata.name",
                    "metadata.uid",
                    "metadata.resourceVersion",
                    "metadata.creationTimestamp",
                    "metadata.generation",
                    "metadata.deletionTimestamp",
                    "metadata.annotations." + GatedPod.PATIENCE,
                    "metadata.annotations." + GatedPod.PLACEMENT,
                    "metadata.annotations." + GROUP_ANNOTATION,
                    "metadata.ownerReferences.controller",
                    "metadata.ownerReferences.uid",
                    "spec.schedulingGates",
                    "spec.nodeSelector",
                    "spec.affinity.nodeAffinity",
                    "spec.tolerations",
                    "spec.resourceClaims")));

    /// The parts that [#needs], [#uses] and [#rules] read of a pod's template.
    ///
    /// @param at the path of the template
    static Set<String> ofTemplate(String at) {
        return Stream.of(
                        OF_NEEDS,
                        OF_USES,
                        List.of("spec.nodeSelector", "spec.affinity.nodeAffinity", "spec.tolerations"))
                .flatMap(List::stream)
                .map(part -> at + "." + part)
                .collect(Collectors.toSet());
    }

    private static Keep keep(List<List<String>> parts) {
        return new Keep(parts.stream().flatMap(List::stream).collect(Collectors.toSet()), Keep.USUAL);
    }

    private static final Set<String> ENDED = Set.of("Succeeded", "Failed");

    /// Allows more digits than an API server accepts (at most 2^63, at least 10^-9), but limits the exponent: a
    /// longer one costs minutes and megabytes of arithmetic.
    private static final Pattern AMOUNT = Pattern.compile("[+-]?[0-9.]{1,40}(?:[eE][+-]?[0-9]{1,2}|[A-Za-z]{0,2})");

    private static final Pattern SECONDS = Pattern.compile("([0-9]{1,7})([smh]?)");
    private static final List<Optional<String>> OUR_GATE = List.of(Optional.of(GatedPod.GATE));
    private static final String REQUIRED = "required";
    private static final String METADATA = "metadata";
    private static final String SPEC = "spec";

    private final String driver;

    /// @param driver the CSI driver's name
    PodParser(String driver) {
        this.driver = driver;
    }

    /// Returns the pod if it has only our gate and is not being deleted. The start of its wait is not set yet.
    Optional<GatedPod> gated(JsonObject pod) {
        List<Optional<String>> gates = JsonParts.each(pod, SPEC, "schedulingGates")
                .map(gate -> JsonParts.text(gate, "name"))
                .toList();
        if (!gates.equals(OUR_GATE)
                || JsonParts.at(pod, METADATA, "deletionTimestamp").isPresent()) {
            return Optional.empty();
        }
        String uid = JsonParts.text(pod, METADATA, "uid").orElse("");
        Map<String, String> annotations = JsonParts.map(pod, METADATA, "annotations");
        return Optional.of(new GatedPod(
                JsonParts.text(pod, METADATA, "namespace").orElse(""),
                JsonParts.text(pod, METADATA, "name").orElse(""),
                uid,
                JsonParts.text(pod, METADATA, "resourceVersion").orElse(""),
                Instant.EPOCH,
                Optional.ofNullable(annotations.get(GatedPod.PATIENCE)).flatMap(PodParser::duration),
                REQUIRED.equals(annotations.get(GatedPod.PLACEMENT)),
                group(pod, annotations).orElse(uid),
                needs(pod, _ -> true),
                true,
                rules(pod),
                uses(pod)));
    }

    /// Returns the creation time of a pod that no other gate ever held; empty otherwise. Kubernetes counts spec
    /// changes in `generation` from 1 (since 1.33). Removing a gate is such a change, and no field records its
    /// time.
    static Optional<Instant> neverHeldSince(JsonObject pod) {
        return JsonParts.text(pod, METADATA, "generation")
                .filter("1"::equals)
                .flatMap(_ -> JsonParts.text(pod, METADATA, "creationTimestamp"))
                .flatMap(PodParser::time);
    }

    /// Returns the status of the condition [DataReadiness#CONDITION]; empty if the pod does not have it.
    static Optional<Boolean> isDataReady(JsonObject pod) {
        return JsonParts.each(pod, "status", "conditions")
                .filter(condition -> JsonParts.text(condition, "type").equals(Optional.of(DataReadiness.CONDITION)))
                .map(condition -> JsonParts.text(condition, "status").equals(Optional.of("True")))
                .findFirst();
    }

    /// Whether a pod has ended and uses nothing. Its object and claims may remain for any time.
    static boolean hasEnded(JsonObject pod) {
        return JsonParts.text(pod, "status", "phase").filter(ENDED::contains).isPresent();
    }

    /// Parses a time; empty if it is invalid.
    static Optional<Instant> time(String text) {
        try {
            return Optional.of(Instant.parse(text));
        } catch (DateTimeParseException none) {
            return Optional.empty();
        }
    }

    /// Parses seconds, or a number with a unit; empty if it is neither, as if it were absent.
    static Optional<Duration> duration(String text) {
        Matcher matcher = SECONDS.matcher(text.strip());
        if (!matcher.matches()) {
            return Optional.empty();
        }
        long number = Long.parseLong(matcher.group(1));
        return Optional.of(
                switch (matcher.group(2)) {
                    case "h" -> Duration.ofHours(number);
                    case "m" -> Duration.ofMinutes(number);
                    default -> Duration.ofSeconds(number);
                });
    }

    private static Optional<String> group(JsonObject pod, Map<String, String> annotations) {
        Map<String, String> labels = JsonParts.map(pod, METADATA, "labels");
        return Stream.concat(
                        Stream.of(Optional.ofNullable(annotations.get(GROUP_ANNOTATION))),
                        GROUP_LABELS.stream()
                                .map(label ->
                                        Optional.ofNullable(labels.get(label)).map(name -> label + "=" + name)))
                .flatMap(Optional::stream)
                .findFirst()
                .or(() -> JsonParts.each(pod, METADATA, "ownerReferences")
                        .filter(owner -> JsonParts.text(owner, "controller").equals(Optional.of("true")))
                        .flatMap(owner -> JsonParts.text(owner, "uid").stream())
                        .findFirst());
    }

    /// Returns the resources that the scheduler counts for a pod (Kubernetes, "Resource sharing within containers",
    /// and "Pod Overhead"). These are all containers together, or an init container with the sidecars started
    /// before it if that is more.
    ///
    /// @param counts which resources matter
    static ResourceAmounts needs(JsonObject pod, Predicate<String> counts) {
        ResourceAmounts containers = JsonParts.each(pod, SPEC, "containers")
                .map(container -> requests(container, counts))
                .reduce(ResourceAmounts.NONE, ResourceAmounts::plus);
        ResourceAmounts sidecars = ResourceAmounts.NONE;
        ResourceAmounts most = ResourceAmounts.NONE;
        for (JsonObject init : JsonParts.each(pod, SPEC, "initContainers").toList()) {
            ResourceAmounts own = requests(init, counts);
            if (JsonParts.text(init, "restartPolicy").equals(Optional.of("Always"))) {
                sidecars = sidecars.plus(own);
                most = most.max(sidecars);
            } else {
                most = most.max(sidecars.plus(own));
            }
        }
        ResourceAmounts all = containers.plus(sidecars).max(most);
        Map<String, BigDecimal> amounts = new TreeMap<>(all.amounts());
        // pod-level requests replace those of its containers ("Pod-level resources")
        amounts.putAll(resources(pod, counts, SPEC, "resources", "requests").amounts());
        amounts.put("pods", BigDecimal.ONE);
        return new ResourceAmounts(amounts).plus(resources(pod, counts, SPEC, "overhead"));
    }

    private static ResourceAmounts requests(JsonObject container, Predicate<String> counts) {
        return resources(container, counts, "resources", "requests");
    }

    /// Parses amounts in Kubernetes' notation.
    static ResourceAmounts resources(JsonObject object, Predicate<String> counts, String... names) {
        Map<String, BigDecimal> amounts = new TreeMap<>();
        JsonParts.map(object, names).entrySet().stream()
                .filter(each -> counts.test(each.getKey()))
                .forEach(each -> quantity(each.getValue())
                        .filter(amount -> amount.signum() != 0)
                        .ifPresent(amount -> amounts.put(each.getKey(), amount)));
        return new ResourceAmounts(amounts);
    }

    private static Optional<BigDecimal> quantity(String text) {
        if (!AMOUNT.matcher(text).matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(Quantity.parse(text).getNumericalAmount());
        } catch (IllegalArgumentException | ArithmeticException none) {
            return Optional.empty(); // an API server may accept what this library does not
        }
    }

    static NodeRules rules(JsonObject pod) {
        Optional<JsonObject> required = JsonParts.object(
                pod, SPEC, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution");
        return new NodeRules(
                JsonParts.map(pod, SPEC, "nodeSelector"),
                required.map(terms -> JsonParts.each(terms, "nodeSelectorTerms")
                        .map(term -> new NodeRules.Term(
                                expressions(term, "matchExpressions"), expressions(term, "matchFields")))
                        .toList()),
                tolerations(pod));
    }

    /// Returns `spec.tolerations` of a pod, or of a flavor of Kueue.
    static List<NodeRules.Toleration> tolerations(JsonObject object) {
        return JsonParts.each(object, SPEC, "tolerations")
                .map(each -> new NodeRules.Toleration(
                        JsonParts.text(each, "key").orElse(""),
                        JsonParts.text(each, "operator").equals(Optional.of("Exists")),
                        JsonParts.text(each, "value").orElse(""),
                        JsonParts.text(each, "effect").orElse("")))
                .toList();
    }

    private static List<NodeRules.Expression> expressions(JsonObject term, String name) {
        return JsonParts.each(term, name)
                .map(each -> new NodeRules.Expression(
                        JsonParts.text(each, "key").orElse(""),
                        JsonParts.text(each, "operator").orElse(""),
                        JsonParts.words(each, "values").toList()))
                .toList();
    }

    /// Returns its volumes that may show datasets.
    List<GatedPod.DatasetReference> uses(JsonObject pod) {
        List<GatedPod.DatasetReference> uses = new ArrayList<>();
        JsonParts.each(pod, SPEC, "volumes").forEach(volume -> {
            if (JsonParts.text(volume, "csi", "driver").equals(Optional.of(driver))) {
                JsonParts.text(volume, "csi", "volumeAttributes", "dataset")
                        .map(GatedPod.DatasetReference.ByName::new)
                        .ifPresent(uses::add);
            }
            JsonParts.text(volume, "persistentVolumeClaim", "claimName")
                    .map(GatedPod.DatasetReference.ByClaim::new)
                    .ifPresent(uses::add);
            if (JsonParts.object(volume, "ephemeral").isPresent()) {
                // Kubernetes, "Generic ephemeral volumes"; a template has no name
                JsonParts.text(pod, METADATA, "name")
                        .map(name -> name + "-" + JsonParts.text(volume, "name").orElse(""))
                        .map(GatedPod.DatasetReference.ByClaim::new)
                        .ifPresent(uses::add);
            }
        });
        return uses;
    }
}
