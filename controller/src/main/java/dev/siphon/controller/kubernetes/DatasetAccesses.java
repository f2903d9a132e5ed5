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

/// The `DatasetAccess` objects of the cluster: questions of nodes, and the datasets that pods were given which
/// name them themselves. They go with their pods, so some are of pods that have ended.
final class DatasetAccesses implements Informer.Values<DatasetAccesses.Given> {
    /// Where they are.
    static final String PATH = "apis/" + DatasetAccess.GROUP + "/" + DatasetAccess.VERSION + "/" + DatasetAccess.PLURAL;

    private static final String METADATA = "metadata";
    private static final String SPEC = "spec";

    /// The custom resource's definition bounds each part of a `spec` to 256 characters.
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
    /// @param dataset for nobody
    record Given(String namespace, String pod, String podUid, VolumeId.DatasetVolume dataset) {}

    DatasetAccesses(KubernetesApi api) {
        this.api = api;
        this.informer = new Informer<>(
                api, new Informer.Source("DatasetAccesses", PATH, "", PAGE, PARTS), this, System::nanoTime);
    }

    /// Keeps them current until the task is closed.
    BackgroundTasks.Task follow(BackgroundTasks tasks) {
        return informer.follow(tasks, () -> {});
    }

    /// Hands over each object whenever it is new or has changed, once they are followed.
    ///
    /// @param each called by the thread that reads the watch: it must return at once
    void read(Consumer<JsonObject> each) {
        reader.set(each);
    }

    /// Hands over all objects by a list.
    void list(Consumer<JsonObject> each) {
        boolean _ = ObjectParts.list(
                api, "list DatasetAccesses", PATH + "?limit=" + PAGE, PARTS, found -> each.accept(found.kept()));
    }

    /// What pods were given; none where the cluster has no such kind, since no pod names any there.
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

    /// What a pod was given.
    static Optional<Given> given(JsonObject access) {
        return JsonParts.text(access, "status", "volume")
                .flatMap(VolumeId.DatasetVolume::tryParse)
                .map(volume -> new Given(
                        JsonParts.text(access, METADATA, "namespace").orElse(""),
                        JsonParts.text(access, SPEC, "pod").orElse(""),
                        JsonParts.text(access, SPEC, "podUID").orElse(""),
                        volume.forNobody()));
    }
}
