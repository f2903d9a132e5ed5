package dev.siphon.controller.kubernetes;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.seal.ReadBack;
import dev.siphon.controller.seal.ReadBack.State;
import dev.siphon.controller.seal.ReadBacks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Packer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// `status.readBack` of Dataset objects. Versions that do not know of it leave it as it is, or have a custom resource
/// that drops it: then an image is read back once more.
final class KubernetesReadBacks implements ReadBacks {
    private static final String READ_BACK = "readBack";
    private static final Keep PARTS =
            Keep.of("metadata.name", "spec.cluster", "spec.fsName", "spec.path", "spec.digest", "status." + READ_BACK);

    private final KubernetesApi api;

    KubernetesReadBacks(KubernetesApi api) {
        this.api = api;
    }

    /// Why nobody may begin to use a dataset; empty if nothing is known against it.
    ///
    /// @param object the Dataset
    static Optional<String> refusal(JsonObject object) {
        return noted(object)
                .filter(noted -> noted.state() == State.REFUSED)
                .map(noted -> "its image was read back and is " + noted);
    }

    private static Optional<ReadBack> noted(JsonObject object) {
        return JsonParts.text(object, "status", READ_BACK).flatMap(ReadBack::parse);
    }

    @Override
    public List<Image> all() {
        List<Image> all = new ArrayList<>();
        boolean _ = ObjectParts.list(
                api,
                "list Datasets",
                KubernetesDatasets.PATH + "?limit=250",
                PARTS,
                found -> image(found.kept()).ifPresent(all::add));
        return all;
    }

    @Override
    public Optional<Image> find(String name) {
        return ObjectParts.find(api, "get Dataset " + name, KubernetesDatasets.PATH + "/" + name, PARTS)
                .flatMap(found -> image(found.kept()));
    }

    private static Optional<Image> image(JsonObject object) {
        JsonObject spec = JsonParts.object(object, "spec").orElseGet(JsonObject::new);
        spec.add("readers", new JsonArray());
        try {
            Dataset dataset =
                    Dataset.parse(JsonParts.text(object, "metadata", "name").orElse(""), spec);
            return Packer.isImage(dataset.path()) ? Optional.of(new Image(dataset, noted(object))) : Optional.empty();
        } catch (DriverException.InvalidRequest _) {
            return Optional.empty(); // nobody can use it
        }
    }

    @Override
    public void note(String name, ReadBack now) {
        JsonObject status = new JsonObject();
        status.addProperty(READ_BACK, now.toString());
        KubernetesDatasets.patch(api, name, status);
    }
}
