package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.explain.ClusterObjects;
import dev.siphon.controller.explain.NamespacedName;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.volume.ClaimRef;
import dev.siphon.controller.warm.GatedPod.DatasetReference;
import dev.siphon.csi.VolumeId;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// Reads pods, claims, PersistentVolumes and events, of each only the parts that are needed: tenants write objects of
/// 1.5 MiB.
final class KubernetesObjects implements ClusterObjects {
    private static final String METADATA = "metadata";
    private static final String STATUS = "status";
    private static final String PAGE = "?limit=100";

    /// Whoever may write Events in a namespace can write any number, and each of any length.
    private static final int MOST_EVENT_PAGES = 5;

    private static final int MOST_OF_MESSAGE = 2_048;

    private static final Keep OF_POD = Keep.of(
            "metadata.namespace",
            "metadata.name",
            "metadata.uid",
            "metadata.deletionTimestamp",
            "spec.nodeName",
            "spec.schedulingGates",
            "spec.volumes.name",
            "spec.volumes.csi.driver",
            "spec.volumes.csi.volumeAttributes.dataset",
            "spec.volumes.persistentVolumeClaim.claimName",
            // only shows that the volume is ephemeral
            "spec.volumes.ephemeral.volumeClaimTemplate.metadata.name",
            "status.phase",
            "status.conditions.type",
            "status.conditions.status",
            "status.conditions.message",
            "status.initContainerStatuses.name",
            "status.initContainerStatuses.state.waiting.reason",
            "status.containerStatuses.name",
            "status.containerStatuses.state.waiting.reason");

    private static final Keep OF_CLAIM = Keep.of(
            "metadata.namespace",
            "metadata.name",
            "metadata.uid",
            "metadata.annotations." + ClaimRef.DATASET,
            "spec.volumeName",
            "status.phase");

    private static final Keep OF_EVENT = Keep.of(
            "metadata.creationTimestamp",
            "type",
            "reason",
            "message",
            "lastTimestamp",
            "eventTime",
            "series.lastObservedTime");

    private final KubernetesApi api;
    private final String driver;
    private final PodParser parser;

    /// @param driver the CSI driver's name
    KubernetesObjects(KubernetesApi api, String driver) {
        this.api = api;
        this.driver = driver;
        this.parser = new PodParser(driver);
    }

    @Override
    public List<KnownVolume> volumes() {
        List<KnownVolume> found = new ArrayList<>();
        boolean _ = ObjectParts.list(
                api,
                "list PersistentVolumes",
                "api/v1/persistentvolumes" + PAGE,
                PersistentVolumes.PARTS,
                object -> PersistentVolumes.volume(object.kept(), driver)
                        .map(volume -> volume(object.kept(), volume))
                        .ifPresent(found::add));
        return found;
    }

    private static KnownVolume volume(JsonObject object, VolumeId volume) {
        return new KnownVolume(
                text(object, METADATA, "name"),
                volume,
                JsonParts.object(object, "spec", "claimRef")
                        .map(claim -> new NamespacedName(text(claim, "namespace"), text(claim, "name"))),
                text(object, STATUS, "phase"));
    }

    @Override
    public Optional<KnownClaim> claim(NamespacedName claim) {
        return find("PersistentVolumeClaim", "persistentvolumeclaims", claim, OF_CLAIM)
                .map(object -> new KnownClaim(
                        claim,
                        text(object, METADATA, "uid"),
                        text(object, STATUS, "phase"),
                        JsonParts.text(object, "spec", "volumeName").filter(name -> !name.isEmpty()),
                        JsonParts.text(object, METADATA, "annotations", ClaimRef.DATASET)));
    }

    @Override
    public Optional<KnownPod> pod(NamespacedName pod) {
        return find("Pod", "pods", pod, OF_POD).map(this::pod);
    }

    private Optional<JsonObject> find(String kind, String plural, NamespacedName name, Keep keep) {
        if (!NamespacedName.isPart(name.namespace()) || !NamespacedName.isPart(name.name())) {
            return Optional.empty();
        }
        return ObjectParts.find(
                        api,
                        "get " + kind + " " + name,
                        "api/v1/namespaces/" + name.namespace() + "/" + plural + "/" + name.name(),
                        keep)
                .map(ObjectParts::kept);
    }

    @Override
    public void pods(Optional<String> namespace, Consumer<KnownPod> each) {
        if (namespace.isPresent() && !NamespacedName.isPart(namespace.get())) {
            return;
        }
        String path =
                "api/v1/" + namespace.map(name -> "namespaces/" + name + "/").orElse("") + "pods" + PAGE;
        boolean _ = ObjectParts.list(
                api,
                "list Pods" + namespace.map(name -> " of namespace " + name).orElse(""),
                path,
                OF_POD,
                object -> each.accept(pod(object.kept())));
    }

    private KnownPod pod(JsonObject object) {
        List<String> claims = new ArrayList<>();
        List<String> datasets = new ArrayList<>();
        for (DatasetReference use : parser.uses(object)) {
            switch (use) {
                case DatasetReference.ByClaim(var claim) -> claims.add(claim);
                case DatasetReference.ByName(var dataset) -> datasets.add(dataset);
                case DatasetReference.Unread _ -> {}
            }
        }
        return new KnownPod(
                new NamespacedName(text(object, METADATA, "namespace"), text(object, METADATA, "name")),
                text(object, METADATA, "uid"),
                JsonParts.text(object, "spec", "nodeName").filter(node -> !node.isEmpty()),
                text(object, STATUS, "phase"),
                JsonParts.at(object, METADATA, "deletionTimestamp").isPresent(),
                claims,
                datasets,
                JsonParts.each(object, "spec", "schedulingGates")
                        .map(gate -> text(gate, "name"))
                        .toList(),
                unscheduled(object),
                Stream.concat(waiting(object, "initContainerStatuses"), waiting(object, "containerStatuses"))
                        .toList());
    }

    private static Optional<String> unscheduled(JsonObject pod) {
        return JsonParts.each(pod, STATUS, "conditions")
                .filter(condition -> text(condition, "type").equals("PodScheduled"))
                .filter(condition -> text(condition, "status").equals("False"))
                .flatMap(condition -> JsonParts.text(condition, "message").stream())
                .findFirst();
    }

    private static Stream<String> waiting(JsonObject pod, String containers) {
        return JsonParts.each(pod, STATUS, containers)
                .flatMap(container -> JsonParts.text(container, "state", "waiting", "reason")
                        .map(reason -> text(container, "name") + ": " + reason)
                        .stream());
    }

    @Override
    public List<KnownEvent> events(String kind, NamespacedName object, String uid) {
        if (!NamespacedName.isPart(object.namespace()) || !NamespacedName.isPart(object.name())) {
            return List.of();
        }
        List<KnownEvent> found = new ArrayList<>();
        AtomicInteger pages = new AtomicInteger();
        boolean _ = api.pages(
                "list Events of " + kind + " " + object,
                "api/v1/namespaces/" + object.namespace() + "/events" + PAGE + "&fieldSelector=involvedObject.kind%3D"
                        + kind + "%2CinvolvedObject.name%3D" + object.name() + "%2CinvolvedObject.uid%3D"
                        + URLEncoder.encode(uid, StandardCharsets.UTF_8),
                body -> ObjectParts.page(body, OF_EVENT, event -> found.add(event(event.kept()))),
                page -> pages.incrementAndGet() < MOST_EVENT_PAGES ? page.next() : "");
        found.sort(Comparator.comparing(KnownEvent::last));
        return found;
    }

    private static KnownEvent event(JsonObject object) {
        return new KnownEvent(
                text(object, "type").equals("Warning"),
                text(object, "reason"),
                beginning(text(object, "message")),
                Stream.of(
                                JsonParts.text(object, "series", "lastObservedTime"),
                                JsonParts.text(object, "lastTimestamp"),
                                JsonParts.text(object, "eventTime"),
                                JsonParts.text(object, METADATA, "creationTimestamp"))
                        .flatMap(Optional::stream)
                        .flatMap(time -> PodParser.time(time).stream())
                        .findFirst()
                        .orElse(Instant.EPOCH));
    }

    private static String beginning(String message) {
        return message.substring(0, Math.min(message.length(), MOST_OF_MESSAGE));
    }

    private static String text(JsonObject object, String... names) {
        return JsonParts.text(object, names).orElse("");
    }
}
