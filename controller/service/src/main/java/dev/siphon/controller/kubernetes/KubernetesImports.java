package dev.siphon.controller.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.imports.DatasetImport;
import dev.siphon.controller.imports.ImportCluster;
import dev.siphon.controller.imports.ImportStatus;
import dev.siphon.controller.imports.ObservedImport.ClaimState;
import dev.siphon.controller.imports.ObservedImport.FetchState;
import dev.siphon.controller.imports.ObservedImport.SealState;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.kubernetes.resource.DatasetObject;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import java.net.HttpURLConnection;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/// Reads and writes DatasetImports of an API server, and what is created for them.
final class KubernetesImports implements ImportCluster {
    /// The PodTemplate for fetchers. If it does not exist, imports are off.
    /// The annotation of a Dataset with the readers that its import has given, separated by commas.
    static final String GIVEN = "siphon.dev/import-readers";

    static final String TEMPLATE = "siphon-fetcher";

    /// The path of the collection.
    static final String PATH = "apis/siphon.dev/v1alpha1/datasetimports";

    static final String SNAPSHOTS = "volumesnapshots";
    static final String CLAIMS = "persistentvolumeclaims";

    private static final String JSON = "application/json";
    private static final String MERGE = "application/merge-patch+json";
    private static final String METADATA = "metadata";
    private static final String SPEC = "spec";
    private static final List<Integer> THERE = List.of(HttpURLConnection.HTTP_CONFLICT);

    /// How long the watch may take to show a status that was written.
    private static final Duration IN_FLIGHT = Duration.ofSeconds(5);

    /// Namespaces that a status names.
    private static final int MOST_NAMESPACES = 10;

    private static final int PAGE = 250;

    private static final Keep OF_IMPORT = Keep.of(
            "metadata.namespace",
            "metadata.name",
            "metadata.generation",
            "metadata.creationTimestamp",
            "metadata.deletionTimestamp",
            SPEC,
            "status");

    private static final Keep OF_OWNED = Keep.of("metadata.uid", "metadata.ownerReferences");

    /// An administrator writes it, and each Job has a copy.
    private static final Keep OF_TEMPLATE = new Keep(Set.of("metadata.annotations", "template"), 5_000);

    private final KubernetesApi api;
    private final KubernetesDatasetCatalog datasets;
    private final ObjectEvents events;
    private final ImportStates states;
    private final KnownImports known;
    private final Informer<KnownImports.KnownImport> informer;

    /// The statuses that were written and that the watch has not shown yet, by uid.
    private final Map<String, WrittenStatus> written = new ConcurrentHashMap<>();

    /// Read once per pass.
    private volatile Optional<JsonObject> template = Optional.empty();

    private volatile Map<String, ImportStatus.DatasetUses> uses = Map.of();

    /// @param at when it was written ([System#nanoTime])
    private record WrittenStatus(ImportStatus status, long at) {
        boolean isInFlight(ImportStatus shown) {
            return !status.equals(shown) && System.nanoTime() - at < IN_FLIGHT.toNanos();
        }
    }

    /// @param driver the CSI driver's name
    KubernetesImports(KubernetesApi api, String driver, KubernetesDatasetCatalog datasets) {
        this.api = api;
        this.datasets = datasets;
        this.events = new ObjectEvents(api, driver);
        this.states = new ImportStates(api, driver);
        this.known = new KnownImports(api);
        this.informer = new Informer<>(
                api, new Informer.Source("DatasetImports", PATH, "", PAGE, OF_IMPORT), known, System::nanoTime);
    }

    @Override
    public BackgroundTasks.Task follow(BackgroundTasks tasks) {
        return informer.follow(tasks, () -> {});
    }

    @Override
    public List<DatasetImport> imports() {
        List<DatasetImport> all = informer.all().stream()
                .sorted(Comparator.comparing(KnownImports.KnownImport::created)
                        .thenComparing(known -> known.wanted().uid()))
                .map(each -> each.wanted())
                .toList();
        written.keySet()
                .retainAll(all.stream()
                        .filter(each -> isInFlight(each))
                        .map(DatasetImport::uid)
                        .toList());
        if (!all.isEmpty()) {
            Map<String, ImportStatus.DatasetUses> now = new HashMap<>();
            datasets.objects().forEach(each -> now.put(each.getMetadata().getName(), uses(each.status())));
            uses = now;
        }
        return all.stream().filter(each -> !isInFlight(each)).toList();
    }

    @Override
    public List<LeftOut> leftOut() {
        return known.untold();
    }

    private boolean isInFlight(DatasetImport each) {
        return Optional.ofNullable(written.get(each.uid()))
                .filter(one -> one.isInFlight(each.status()))
                .isPresent();
    }

    private static ImportStatus.DatasetUses uses(DatasetObject.Status status) {
        TreeSet<String> namespaces = new TreeSet<>();
        Optional.ofNullable(status.nodes())
                .orElse(List.of())
                .forEach(node ->
                        namespaces.addAll(Optional.ofNullable(node.namespaces()).orElse(List.of())));
        return new ImportStatus.DatasetUses(
                Optional.ofNullable(status.pods()).orElse(0L),
                namespaces.stream().limit(MOST_NAMESPACES).toList());
    }

    @Override
    public Optional<ImportStatus.DatasetUses> uses(String dataset) {
        return Optional.ofNullable(uses.get(dataset));
    }

    @Override
    public boolean isOn() {
        try {
            template = readTemplate();
        } catch (DriverException.AccessDenied _) {
            // the chart gives the right together with the PodTemplate
            template = Optional.empty();
        }
        return template.isPresent();
    }

    private Optional<JsonObject> readTemplate() {
        return ObjectParts.find(
                        api,
                        "get PodTemplate " + TEMPLATE,
                        "api/v1/namespaces/" + api.namespace() + "/podtemplates/" + TEMPLATE,
                        OF_TEMPLATE)
                .filter(ObjectParts::whole)
                .map(ObjectParts::kept);
    }

    @Override
    public ClaimState claim(DatasetImport of) {
        return states.claim(of);
    }

    @Override
    public FetchState fetch(DatasetImport of) {
        return states.fetch(of);
    }

    @Override
    public SealState seal(DatasetImport of, String dataset) {
        return states.seal(of, dataset);
    }

    @Override
    public void reserve(DatasetImport of) {
        create("PersistentVolumeClaim", claims(of.namespace()), of, objects(of).claim());
    }

    @Override
    public void beginFetch(DatasetImport of, Account account) {
        create("Job", jobs(of.namespace()), of, objects(of).job(account));
    }

    @Override
    public void takeSnapshot(DatasetImport of) {
        create("VolumeSnapshot", snapshots(of.namespace()), of, objects(of).snapshot());
    }

    private ImportObjects objects(DatasetImport of) {
        return new ImportObjects(
                template.orElseThrow(
                        () -> new DriverException.BackendUnavailable("PodTemplate " + TEMPLATE + " is gone; retry")),
                of);
    }

    /// An existing object of that name is left alone; the next pass finds out whose it is.
    private void create(String kind, String collection, DatasetImport of, JsonObject object) {
        boolean _ = api.send(
                "create " + kind + " of " + of, THERE, collection, request -> request.post(JSON, object.toString()));
    }

    @Override
    public void removeSnapshot(DatasetImport of) {
        delete("VolumeSnapshot", snapshots(of.namespace()) + "/" + of.name(), of);
    }

    @Override
    public void removeFetch(DatasetImport of) {
        delete("Job", jobs(of.namespace()) + "/" + of.fetchName(), of);
    }

    @Override
    public void removeClaim(DatasetImport of) {
        delete("PersistentVolumeClaim", claims(of.namespace()) + "/" + of.fetchName(), of);
    }

    /// Names the uid of the object that was found to be the import's: another of that name is not deleted.
    private void delete(String kind, String path, DatasetImport of) {
        Optional<String> uid = ObjectParts.find(api, "get " + kind + " of " + of, path, OF_OWNED)
                .map(ObjectParts::kept)
                .filter(found -> ImportObjects.isOwned(found, of))
                .flatMap(found -> JsonParts.text(found, METADATA, "uid"));
        if (uid.isEmpty()) {
            return;
        }
        JsonObject preconditions = new JsonObject();
        preconditions.addProperty("uid", uid.get());
        JsonObject options = new JsonObject();
        options.addProperty("apiVersion", "v1");
        options.addProperty("kind", "DeleteOptions");
        options.addProperty("propagationPolicy", "Background");
        options.add("preconditions", preconditions);
        boolean _ = api.send(
                "delete " + kind + " of " + of,
                List.of(HttpURLConnection.HTTP_NOT_FOUND, HttpURLConnection.HTTP_CONFLICT),
                path,
                request -> request.delete(JSON, options.toString()));
    }

    @Override
    public void share(String dataset, Set<String> before, Set<String> now) {
        setReaders(dataset, before, now, true);
    }

    @Override
    public void withdraw(String dataset, Set<String> before, Set<String> now) {
        setReaders(dataset, before, now, false);
    }

    private void setReaders(String dataset, Set<String> before, Set<String> now, boolean mayAdd) {
        DatasetObject found = KubernetesDatasetCatalog.get(api, dataset)
                .orElseThrow(() -> new DriverException.BackendUnavailable("Dataset " + dataset + " is gone; retry"));
        Set<String> is =
                new TreeSet<>(Optional.ofNullable(found.spec().readers()).orElse(List.of()));
        // written with the readers in one change, so that a killed controller's successor knows what to take back
        String noted = Optional.ofNullable(found.getMetadata().getAnnotations())
                .map(annotations -> annotations.get(GIVEN))
                .orElse("");
        String note = String.join(",", new TreeSet<>(now));
        Set<String> wanted = new TreeSet<>(is);
        wanted.removeAll(before);
        wanted.removeAll(List.of(noted.split(",", -1)));
        now.stream().filter(reader -> mayAdd || is.contains(reader)).forEach(wanted::add);
        if (wanted.equals(is) && note.equals(noted)) {
            return;
        }
        JsonArray readers = new JsonArray();
        wanted.forEach(readers::add);
        JsonObject spec = new JsonObject();
        spec.add("readers", readers);
        JsonObject metadata = new JsonObject();
        metadata.addProperty("resourceVersion", found.getMetadata().getResourceVersion());
        JsonObject annotations = new JsonObject();
        annotations.addProperty(GIVEN, note);
        metadata.add("annotations", annotations);
        JsonObject change = new JsonObject();
        change.add(METADATA, metadata);
        change.add(SPEC, spec);
        boolean changed = api.send(
                "patch Dataset " + dataset,
                THERE,
                KubernetesDatasetCatalog.PATH + "/" + dataset,
                request -> request.patch(MERGE, change.toString()));
        if (!changed) {
            throw new DriverException.BackendUnavailable("Dataset " + dataset + " was changed meanwhile; retry");
        }
    }

    @Override
    public void report(DatasetImport of, ImportStatus status) {
        written.put(of.uid(), new WrittenStatus(status, System.nanoTime()));
        // another import of that name, created meanwhile, must not get this one's status
        api.replaceStatus(
                of.toString(),
                imports(of.namespace()) + "/" + of.name(),
                "/metadata/uid",
                of.uid(),
                JsonParser.parseString(api.json(ImportParser.toObject(status))).getAsJsonObject());
        known.told(of.uid());
    }

    @Override
    public void tell(DatasetImport of, boolean warning, String reason, String message) {
        events.add(
                new ObjectEvents.About(ImportObjects.VERSION, ImportObjects.KIND, of.namespace(), of.name(), of.uid()),
                warning,
                reason,
                message);
    }

    static String claims(String namespace) {
        return "api/v1/namespaces/" + namespace + "/" + CLAIMS;
    }

    static String jobs(String namespace) {
        return KubernetesSealing.JOBS + namespace + "/jobs";
    }

    static String snapshots(String namespace) {
        return "apis/snapshot.storage.k8s.io/v1/namespaces/" + namespace + "/" + SNAPSHOTS;
    }

    static String imports(String namespace) {
        return PATH.replace("/datasetimports", "/namespaces/" + namespace + "/datasetimports");
    }
}
