package dev.siphon.controller.kubernetes;

import dev.siphon.controller.kubernetes.resource.DatasetObject;
import dev.siphon.controller.seal.ReadBack;
import dev.siphon.controller.seal.ReadBack.State;
import dev.siphon.controller.seal.ReadBacks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Packer;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Reads and writes `status.readBack` of Dataset objects. Earlier versions leave it as it is, or have a custom
/// resource that drops it; then the image is read back once more.
final class KubernetesReadBacks implements ReadBacks {
    private final KubernetesApi api;
    private final KubernetesDatasetCatalog datasets;

    KubernetesReadBacks(KubernetesApi api, KubernetesDatasetCatalog datasets) {
        this.api = api;
        this.datasets = datasets;
    }

    /// Returns why no new use of a dataset is allowed; empty if its image was not refused.
    static Optional<String> refusal(DatasetObject object) {
        return noted(object)
                .filter(noted -> noted.state() == State.REFUSED)
                .map(noted -> "its image was read back and is " + noted);
    }

    private static Optional<ReadBack> noted(DatasetObject object) {
        return Optional.ofNullable(object.status().readBack()).flatMap(ReadBack::parse);
    }

    @Override
    public List<Image> all() {
        return datasets.objects().stream()
                .flatMap(object -> image(object).stream())
                .toList();
    }

    @Override
    public Optional<Image> find(String name) {
        return KubernetesDatasetCatalog.get(api, name).flatMap(KubernetesReadBacks::image);
    }

    private static Optional<Image> image(DatasetObject object) {
        try {
            Dataset dataset = KubernetesDatasetCatalog.parse(object).readBy(Set.of());
            return Packer.isImage(dataset.path()) ? Optional.of(new Image(dataset, noted(object))) : Optional.empty();
        } catch (DriverException.InvalidRequest _) {
            return Optional.empty(); // no volume shows it
        }
    }

    @Override
    public void note(String name, ReadBack now) {
        KubernetesDatasetCatalog.patch(api, name, DatasetObject.Status.of(now.toString()));
    }
}
