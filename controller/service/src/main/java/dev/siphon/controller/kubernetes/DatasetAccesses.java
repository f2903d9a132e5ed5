package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.DatasetAccess;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/// The `DatasetAccess` objects of the cluster: requests of nodes, and the datasets given to pods. They are deleted
/// with their pods, so some belong to pods that have ended.
final class DatasetAccesses implements Informer.Values<DatasetAccesses.Given> {
    /// The path of the collection.
    static final String PATH = "apis/" + DatasetAccess.GROUP + "/" + DatasetAccess.VERSION + "/" + DatasetAccess.PLURAL;

    private static final String METADATA = "metadata";
    private static final String SPEC = "spec";

    /// The custom resource's definition limits each part of a `spec` to 256 characters.
    private static final Keep PARTS =
            new Keep(Set.of("metadata.namespace", "metadata.name", SPEC, "status.request", "status.volume"), 100);

    private static final int PAGE = 250;

    private final KubernetesApi api;
    private final Informer<Given> informer;
    private final AtomicReference<Consumer<JsonObject>> reader = new AtomicReference<>(_ -> {});

    /// Pods of one job read the same dataset.
    private final Interned<VolumeId.DatasetVolume> shared = new Interned<>();

    /// A pod with a dataset.
    ///
    /// @param dataset without a claim
    record Given(String namespace, String pod, String podUid, VolumeId.DatasetVolume dataset) {}

    DatasetAccesses(KubernetesApi api) {
        this.api = api;
        this.informer = new Informer<>(
                api, new Informer.Source("DatasetAccesses", PATH, "", PAGE, PARTS), this, System::nanoTime);
    }

    /// Watches the objects until the task is closed.
    BackgroundTasks.Task follow(BackgroundTasks tasks) {
        return informer.follow(tasks, () -> {});
    }

    /// Passes on each new or changed object while the objects are watched.
    ///
    /// @param each called on the watch's thread: must return at once
    void read(Consumer<JsonObject> each) {
        reader.set(each);
    }

    /// Lists all objects and passes them on.
    void list(Consumer<JsonObject> each) {
        boolean _ = ObjectParts.list(
                api, "list DatasetAccesses", PATH + "?limit=" + PAGE, PARTS, found -> each.accept(found.kept()));
    }

    /// Returns the datasets given to pods; none if the cluster lacks this kind, because no pod can name one then.
    List<Given> given() {
        return informer.all();
    }

    @Override
    public Optional<Given> of(ObjectParts object, Optional<Given> before) {
        JsonObject access = object.kept();
        reader.get().accept(access);
        return given(access).map(given -> {
            VolumeId.DatasetVolume same = shared.of(given.dataset());
            return new Given(given.namespace(), given.pod(), given.podUid(), same);
        });
    }

    /// Returns the dataset that the object's pod was given; empty if the status holds none.
    static Optional<Given> given(JsonObject access) {
        return JsonParts.text(access, "status", "volume")
                .flatMap(VolumeId.DatasetVolume::tryParse)
                .map(volume -> new Given(
                        JsonParts.text(access, METADATA, "namespace").orElse(""),
                        JsonParts.text(access, SPEC, "pod").orElse(""),
                        JsonParts.text(access, SPEC, "podUID").orElse(""),
                        volume.withoutClaim()));
    }
}
