package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.csi.VolumeId;
import java.util.function.Consumer;

/// The datasets that pods were given which name them themselves, as `DatasetAccess` objects say it. They go with their
/// pods, so some are of pods that have ended.
final class GivenDatasets {
    private static final Keep PARTS = Keep.of("metadata.namespace", "spec.pod", "spec.podUID", "status.volume");

    private GivenDatasets() {}

    /// A pod with a dataset.
    ///
    /// @param dataset for nobody
    record Given(String namespace, String pod, String podUid, VolumeId.Dataset dataset) {}

    /// Hands over all of them; none where the cluster has no such kind, since no pod names any there.
    static void each(KubernetesApi api, Consumer<Given> each) {
        boolean _ = ObjectParts.list(api, "list DatasetAccesses", DatasetRequests.PATH + "?limit=250", PARTS, found -> {
            JsonObject access = found.kept();
            JsonParts.text(access, "status", "volume")
                    .flatMap(VolumeId.Dataset::tryParse)
                    .ifPresent(volume -> each.accept(new Given(
                            JsonParts.text(access, "metadata", "namespace").orElse(""),
                            JsonParts.text(access, "spec", "pod").orElse(""),
                            JsonParts.text(access, "spec", "podUID").orElse(""),
                            volume.forNobody())));
        });
    }
}
