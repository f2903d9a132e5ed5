package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.VolumeId;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/// Caches all PersistentVolumes of the cluster by a watch: the API cannot look one up by its volume or claim.
final class PersistentVolumes {
    private static final String SPEC = "spec";
    private static final String NAME = "name";

    /// The parts to read of each.
    static final Keep PARTS =
            Keep.of("metadata.name", "spec.claimRef", "spec.csi.driver", "spec.csi.volumeHandle", "status.phase");

    static final Set<String> RELEASED = Set.of("Released", "Failed");

    private final String driver;
    private final Informer<KnownVolume> informer;

    /// Volumes of this driver that show no dataset.
    private final Map<VolumeId.Provisioned, KnownVolume> byVolume = new ConcurrentHashMap<>();

    private final Map<ClaimKey, KnownVolume> byClaim = new ConcurrentHashMap<>();

    /// @param driver the CSI driver's name
    PersistentVolumes(KubernetesApi api, String driver) {
        this.driver = driver;
        this.informer = new Informer<>(
                api,
                new Informer.Source("PersistentVolumes", "api/v1/persistentvolumes", "", 250, PARTS),
                new Informer.Values<>() {
                    @Override
                    public Optional<KnownVolume> of(ObjectParts object, Optional<KnownVolume> before) {
                        before.ifPresent(PersistentVolumes.this::forget);
                        return Optional.of(remember(object.kept()));
                    }

                    @Override
                    public void gone(KnownVolume before) {
                        forget(before);
                    }
                },
                System::nanoTime);
    }

    /// A PersistentVolumeClaim.
    record ClaimKey(String namespace, String name) {}

    /// A PersistentVolume.
    ///
    /// @param volume its volume; empty if it is another driver's
    /// @param claim its claim; empty if it has none, or the claim was deleted
    record KnownVolume(String name, Optional<VolumeId> volume, Optional<ClaimKey> claim) {
        private Optional<VolumeId.Provisioned> provisioned() {
            return volume.filter(VolumeId.Provisioned.class::isInstance).map(VolumeId.Provisioned.class::cast);
        }

        /// Returns its dataset's volume, if it shows a dataset.
        Optional<VolumeId.DatasetVolume> dataset() {
            return volume.filter(VolumeId.DatasetVolume.class::isInstance).map(VolumeId.DatasetVolume.class::cast);
        }
    }

    private KnownVolume remember(JsonObject object) {
        KnownVolume standing =
                new KnownVolume(JsonParts.text(object, "metadata", NAME).orElse(""), volume(object), claim(object));
        standing.provisioned().ifPresent(volume -> byVolume.put(volume, standing));
        standing.claim().ifPresent(claim -> byClaim.put(claim, standing));
        return standing;
    }

    private void forget(KnownVolume standing) {
        standing.provisioned().ifPresent(volume -> Informer.forget(byVolume, volume, standing));
        standing.claim().ifPresent(claim -> Informer.forget(byClaim, claim, standing));
    }

    /// Watches the PersistentVolumes until the task is closed.
    ///
    /// @param changed as for [Informer#follow]
    BackgroundTasks.Task follow(BackgroundTasks tasks, Runnable changed) {
        return informer.follow(tasks, changed);
    }

    /// Returns the PersistentVolume of a volume.
    Optional<KnownVolume> of(VolumeId.Provisioned volume) {
        informer.bringUp();
        return Optional.ofNullable(byVolume.get(volume));
    }

    /// Returns the PersistentVolume of a claim.
    Optional<KnownVolume> of(ClaimKey claim) {
        informer.bringUp();
        return Optional.ofNullable(byClaim.get(claim));
    }

    /// Returns all volumes of this driver that have a PersistentVolume and show no dataset.
    Set<VolumeId.Provisioned> volumes() {
        informer.bringUp();
        return Set.copyOf(byVolume.keySet());
    }

    /// Passes on each claim that shows a dataset, with the dataset's own id.
    void eachOfDatasets(BiConsumer<ClaimKey, VolumeId.DatasetVolume> each) {
        for (KnownVolume standing : informer.all()) {
            standing.dataset()
                    .ifPresent(
                            dataset -> standing.claim().ifPresent(claim -> each.accept(claim, dataset.withoutClaim())));
        }
    }

    /// Returns the dataset's volume of a PersistentVolume; empty if it shows no dataset.
    static Optional<VolumeId.DatasetVolume> dataset(JsonObject volume, String driver) {
        return volume(volume, driver)
                .filter(VolumeId.DatasetVolume.class::isInstance)
                .map(VolumeId.DatasetVolume.class::cast);
    }

    private Optional<VolumeId> volume(JsonObject object) {
        return volume(object, driver);
    }

    /// Returns the volume of a PersistentVolume; empty if it is another driver's.
    static Optional<VolumeId> volume(JsonObject object, String driver) {
        return JsonParts.object(object, SPEC, "csi")
                .filter(csi -> JsonParts.text(csi, "driver").equals(Optional.of(driver)))
                .flatMap(csi -> JsonParts.text(csi, "volumeHandle"))
                .flatMap(VolumeId::tryParse);
    }

    /// A released volume names a claim that was deleted.
    private static Optional<ClaimKey> claim(JsonObject object) {
        return JsonParts.object(object, SPEC, "claimRef")
                .filter(_ -> JsonParts.text(object, "status", "phase")
                        .filter(RELEASED::contains)
                        .isEmpty())
                .map(claim -> new ClaimKey(
                        JsonParts.text(claim, "namespace").orElse(""),
                        JsonParts.text(claim, NAME).orElse("")));
    }
}
