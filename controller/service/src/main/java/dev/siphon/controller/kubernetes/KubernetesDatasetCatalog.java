package dev.siphon.controller.kubernetes;

import dev.siphon.controller.dataset.DatasetCatalog;
import dev.siphon.controller.dataset.ReaderIds;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.kubernetes.resource.DatasetObject;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Digest;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Datasets as objects of the cluster (`datasets.siphon.dev`). Administrators write them; [KubernetesSealing]
/// writes those of sealed snapshots.
final class KubernetesDatasetCatalog implements DatasetCatalog {
    /// The path of the collection.
    static final String PATH = "apis/siphon.dev/v1alpha1/datasets";

    /// Administrators write these, and the driver their status.
    private static final Keep PARTS =
            new Keep(Set.of("metadata.name", "metadata.annotations", "metadata.labels", "spec", "status"), 10_000);

    private static final Logger LOG = LoggerFactory.getLogger(KubernetesDatasetCatalog.class);

    private final KubernetesApi api;
    private final Informer<DatasetObject> informer;

    /// The status of the objects at the last list.
    private final Map<String, DatasetStatus> reported = new ConcurrentHashMap<>();

    /// The accounts behind reader names, likewise.
    private final Map<String, ReaderIds> seen = new ConcurrentHashMap<>();

    KubernetesDatasetCatalog(KubernetesApi api) {
        this.api = api;
        this.informer = new Informer<>(
                api,
                new Informer.Source("Datasets", PATH, "", 250, PARTS),
                (object, _) -> api.typed(object.kept(), DatasetObject.class),
                System::nanoTime);
    }

    /// Watches the objects until the task is closed.
    BackgroundTasks.Task follow(BackgroundTasks tasks) {
        return informer.follow(tasks, () -> {});
    }

    static Optional<DatasetObject> get(KubernetesApi api, String name) {
        return api.find(
                "get Dataset " + name,
                server -> server.resources(DatasetObject.class).withName(name).get());
    }

    /// Returns all objects; none if the cluster lacks this kind.
    List<DatasetObject> objects() {
        return informer.all();
    }

    @Override
    public Optional<Dataset> find(String name) {
        try {
            return get(api, name).map(KubernetesDatasetCatalog::usable);
        } catch (DriverException.InvalidRequest wrong) {
            throw new DriverException.InUse(wrong.getMessage());
        }
    }

    @Override
    public Declared all() {
        List<Dataset> all = new ArrayList<>();
        reported.clear();
        seen.clear();
        Map<String, String> broken = new HashMap<>();
        for (DatasetObject object : objects()) {
            String name = object.getMetadata().getName();
            state(object.status()).ifPresent(state -> reported.put(name, state));
            ReaderIds readers = ReaderStatus.parse(object.status());
            if (!readers.equals(ReaderIds.NONE)) {
                seen.put(name, readers);
            }
            try {
                all.add(usable(object));
            } catch (DriverException.InvalidRequest wrong) {
                broken.put(name, String.valueOf(wrong.getMessage()));
            }
        }
        if (!informer.isServed()) {
            throw new DriverException.BackendUnavailable(
                    "the cluster has no custom resource datasets.siphon.dev: the chart makes it");
        }
        return new Declared(all, broken, seen);
    }

    private static Optional<DatasetStatus> state(DatasetObject.Status status) {
        return Optional.ofNullable(status.ready())
                .flatMap(ready ->
                        Optional.ofNullable(status.message()).map(message -> new DatasetStatus(ready, message)));
    }

    @Override
    public ReaderIds readers(String name) {
        return get(api, name).map(object -> ReaderStatus.parse(object.status())).orElse(ReaderIds.NONE);
    }

    @Override
    public void note(String name, ReaderIds readers) {
        ReaderIds before = seen.getOrDefault(name, ReaderIds.NONE);
        patch(api, name, ReaderStatus.change(name, before, readers, Instant.now()));
        if (!before.changed().containsAll(readers.changed())) {
            LOG.warn("dataset {}: {}", name, ReaderStatus.message(name, readers.changed()));
        }
    }

    @Override
    public void report(String name, DatasetStatus state) {
        if (state.equals(reported.get(name))) {
            return;
        }
        patch(api, name, DatasetObject.Status.of(state.ready(), state.message()));
        if (!state.ready()) {
            LOG.warn("dataset {} cannot be used: {}", name, state.message());
        }
    }

    /// Merges fields into a status.
    static void patch(KubernetesApi api, String name, DatasetObject.Status status) {
        String change = api.json(Map.of("status", status));
        // a dataset that was deleted meanwhile needs none
        boolean _ = api.send(
                "patch status of Dataset " + name,
                List.of(HttpURLConnection.HTTP_NOT_FOUND),
                PATH + "/" + name + "/status",
                request -> request.patch("application/merge-patch+json", change));
    }

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the declaration is invalid, or its image is
    ///     refused
    private static Dataset usable(DatasetObject object) {
        Dataset dataset = parse(object);
        KubernetesReadBacks.refusal(object).ifPresent(why -> {
            throw new DriverException.InvalidRequest("dataset " + dataset.name() + ": " + why);
        });
        return dataset;
    }

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the declaration is invalid
    static Dataset parse(DatasetObject object) {
        DatasetObject.Spec spec = object.spec();
        return Dataset.declared(
                object.getMetadata().getName(),
                name -> new Dataset(
                        name,
                        Optional.ofNullable(spec.cluster()),
                        needed("fsName", spec.fsName()),
                        needed("path", spec.path()),
                        new Digest(needed("digest", spec.digest())),
                        spec.bytes(),
                        Set.copyOf(needed("readers", spec.readers()))));
    }

    private static <T> T needed(String field, @Nullable T value) {
        return Optional.ofNullable(value).orElseThrow(() -> new DriverException.InvalidRequest(field + " is missing"));
    }
}
