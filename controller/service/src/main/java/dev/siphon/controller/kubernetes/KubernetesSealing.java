package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.explain.NamespacedName;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.seal.CheckOrder;
import dev.siphon.controller.seal.PackerOutcome;
import dev.siphon.controller.seal.ReadBacks;
import dev.siphon.controller.seal.SealOrder;
import dev.siphon.controller.seal.SealingCluster;
import dev.siphon.controller.volume.SnapshotClass.SnapshotRequest;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import java.net.HttpURLConnection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs packers, and the processes that read images back, as Jobs of the driver's own namespace; declares Dataset
/// objects.
final class KubernetesSealing implements SealingCluster {
    /// The PodTemplate for packers.
    static final String TEMPLATE = "siphon-packer";

    static final String JOBS = "apis/batch/v1/namespaces/";

    private static final Logger LOG = LoggerFactory.getLogger(KubernetesSealing.class);

    private static final String JSON = "application/json";
    private static final String STATUS = "status";
    private static final List<Integer> THERE = List.of(HttpURLConnection.HTTP_CONFLICT);
    private static final List<Integer> GONE = List.of(HttpURLConnection.HTTP_NOT_FOUND);

    /// A Job's name and conditions.
    private static final Keep CONDITIONS = Keep.of(
            "metadata.name",
            "status.conditions.type",
            "status.conditions.status",
            "status.conditions.reason",
            "status.conditions.message");

    /// The reason of a failed Job whose pod ended with the exit code in its policy (Kubernetes, "Pod failure
    /// policy").
    private static final String BY_POLICY = "PodFailurePolicy";

    /// An administrator writes it, and each Job has a copy.
    private static final Keep TEMPLATES = new Keep(Set.of(PackerQueue.AT_ONCE_PART, "template"), 5_000);

    private final KubernetesApi api;
    private final KubernetesDatasetCatalog datasets;
    private final KeySecrets secrets;
    private final ObjectEvents events;
    private final PackerCluster cluster;
    private final PackerPods pods;
    private final String driver;
    private final PackerQueue turns;

    /// @param driver the CSI driver's name
    KubernetesSealing(KubernetesApi api, String driver, KubernetesDatasetCatalog datasets) {
        this.api = api;
        this.datasets = datasets;
        this.secrets = new KeySecrets(api);
        this.events = new ObjectEvents(api, driver);
        this.cluster = new PackerCluster(api);
        this.pods = new PackerPods(api);
        this.turns = new PackerQueue(api, jobs());
        this.driver = driver;
    }

    @Override
    public Optional<PackerOutcome> find(String name) {
        return get("Job " + name, jobs() + "/" + name, CONDITIONS).map(job -> packing(name, job.kept()));
    }

    private PackerOutcome packing(String name, JsonObject job) {
        if (hasCondition(job, "Complete")) {
            return new PackerOutcome.Ended();
        }
        if (hasCondition(job, "Failed")) {
            JsonObject failed = JsonParts.each(job, STATUS, "conditions")
                    .filter(condition -> JsonParts.text(condition, "type").equals(Optional.of("Failed")))
                    .findFirst()
                    .orElseGet(JsonObject::new);
            String why = JsonParts.text(failed, "message").orElse("");
            return new PackerOutcome.Failed(
                    pods.lastWords(name).map(said -> said + " (" + why + ")").orElse(why),
                    JsonParts.text(failed, "reason").equals(Optional.of(BY_POLICY)));
        }
        return new PackerOutcome.Running(pods.progress(name));
    }

    static boolean hasCondition(JsonObject job, String type) {
        return JsonParts.each(job, STATUS, "conditions")
                .anyMatch(condition -> JsonParts.text(condition, "type").equals(Optional.of(type))
                        && JsonParts.text(condition, STATUS).equals(Optional.of("True")));
    }

    @Override
    public PackerOutcome begin(SealOrder order) {
        PackerObjects objects = new PackerObjects(api.namespace(), driver, order);
        ObjectParts parts = get("PodTemplate " + TEMPLATE, core("podtemplates") + "/" + TEMPLATE, TEMPLATES)
                .orElseThrow(() -> new DriverException.InUse("there is no PodTemplate " + TEMPLATE + " in namespace "
                        + api.namespace() + ", and packers need it: set `snapshots: true` in the chart"));
        if (!parts.whole()) {
            throw new DriverException.InUse("PodTemplate " + TEMPLATE + " is longer than Siphon reads: shorten it");
        }
        JsonObject template = parts.kept();
        JsonObject job = objects.job(JsonParts.object(template, "template").orElseGet(JsonObject::new));
        String secret = order.name() + PackerObjects.TARGET;
        if (!secrets.write(secret, order.target().id(), Optional.of(order.key()))) {
            throw new DriverException.InUse(secrets.called(secret) + " is not this packer's: remove it");
        }
        if (!cluster.areBound(objects)) {
            return new PackerOutcome.Running("its volumes are being bound");
        }
        PackerOutcome.Running begun =
                new PackerOutcome.Running(order instanceof CheckOrder ? "begins to be read back" : "its packer begins");
        return turns.take(order, template, () -> cluster.run(jobs(), job), this::clear)
                .<PackerOutcome>map(PackerOutcome.Queued::new)
                .orElse(begun);
    }

    @Override
    public ReadBacks readBacks() {
        return new KubernetesReadBacks(api, datasets);
    }

    /// The Job is deleted after its pods (Kubernetes, "Foreground cascading deletion"), the claims when no pod uses
    /// them, and the volumes when no claim does.
    @Override
    public boolean clear(String name) {
        delete("Job", jobs() + "/" + name, "Foreground");
        for (String which : List.of(PackerObjects.SOURCE, PackerObjects.TARGET)) {
            delete("PersistentVolumeClaim", core("persistentvolumeclaims") + "/" + name + which, "Background");
            delete("PersistentVolume", "api/v1/persistentvolumes/" + name + which, "Background");
        }
        delete("Secret", core("secrets") + "/" + name + PackerObjects.TARGET, "Background");
        return get("Job " + name, jobs() + "/" + name, CONDITIONS).isEmpty();
    }

    private void delete(String kind, String path, String propagation) {
        JsonObject options = new JsonObject();
        options.addProperty("apiVersion", "v1");
        options.addProperty("kind", "DeleteOptions");
        options.addProperty("propagationPolicy", propagation);
        boolean _ = api.send(
                "delete " + kind + " " + path.substring(path.lastIndexOf('/') + 1),
                GONE,
                path,
                request -> request.delete(JSON, options.toString()));
    }

    @Override
    public void declare(Dataset dataset) {
        JsonObject object = dataset.toObject();
        JsonObject labels = new JsonObject();
        labels.addProperty(KeySecret.MANAGED_BY, KeySecret.SIPHON);
        object.getAsJsonObject("metadata").add("labels", labels);
        boolean made = api.send(
                "create Dataset " + dataset.name(),
                THERE,
                KubernetesDatasetCatalog.PATH,
                request -> request.post(JSON, object.toString()));
        if (!made && !isAt(dataset.name(), dataset.path())) {
            throw new DriverException.IncompatibleExisting(
                    "there is another dataset " + dataset.name() + ": give the VolumeSnapshot another name");
        }
    }

    private boolean isAt(String name, String path) {
        return get("Dataset " + name, KubernetesDatasetCatalog.PATH + "/" + name, Keep.of("spec.path"))
                .flatMap(found -> JsonParts.text(found.kept(), "spec", "path"))
                .equals(Optional.of(path));
    }

    @Override
    public void withdraw(String name, String path) {
        if (isAt(name, path)) {
            delete("Dataset", KubernetesDatasetCatalog.PATH + "/" + name, "Background");
        }
    }

    @Override
    public void report(SnapshotRequest object, Notice notice) {
        if (!NamespacedName.isPart(object.namespace()) || !NamespacedName.isPart(object.name())) {
            return;
        }
        String path = "apis/snapshot.storage.k8s.io/v1/namespaces/" + object.namespace() + "/volumesnapshots/"
                + object.name();
        try {
            get("VolumeSnapshot " + object, path, ObjectEvents.About.PARTS)
                    .map(found -> ObjectEvents.About.of(found.kept()))
                    .ifPresent(snapshot -> events.add(snapshot, notice.warning(), notice.reason(), notice.message()));
        } catch (DriverException notNow) {
            LOG.info("the progress of a dataset is not reported: {}", notNow.getMessage());
        }
    }

    private Optional<ObjectParts> get(String what, String path, Keep keep) {
        return ObjectParts.find(api, "get " + what, path, keep);
    }

    private String core(String plural) {
        return "api/v1/namespaces/" + api.namespace() + "/" + plural;
    }

    private String jobs() {
        return JOBS + api.namespace() + "/jobs";
    }
}
