package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.kubernetes.PersistentVolumes.Claim;
import dev.siphon.controller.volume.ClaimRef;
import dev.siphon.controller.warm.WarmingCluster.Claimed;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// Which datasets the PersistentVolumeClaims show that pods at the gate name: by their annotation, or by the
/// PersistentVolume that they are bound to.
final class GateClaims implements Informer.Values<GateClaims.Known> {
    private static final Informer.Source SOURCE = new Informer.Source(
            "PersistentVolumeClaims",
            "api/v1/persistentvolumeclaims",
            "",
            250,
            Keep.of(
                    "metadata.namespace",
                    "metadata.name",
                    "metadata.annotations." + ClaimRef.DATASET,
                    "spec.volumeName"));

    /// More than any dataset's name; tenants write 256 KiB.
    private static final int LONGEST = 512;

    private final PersistentVolumes volumes;
    private final Informer<Known> informer;
    private final Map<Claim, Known> known = new ConcurrentHashMap<>();

    /// What a claim says.
    ///
    /// @param dataset as its annotation names it
    /// @param isLegible false if the annotation is longer than any dataset's name
    /// @param isBound whether it names a PersistentVolume
    record Known(Claim claim, Optional<String> dataset, boolean isLegible, boolean isBound) {}

    GateClaims(KubernetesApi api, PersistentVolumes volumes) {
        this.volumes = volumes;
        this.informer = new Informer<>(api, SOURCE, this, System::nanoTime);
    }

    /// Keeps them current until the task is closed.
    ///
    /// @param changed as of [Informer#follow]
    BackgroundTasks.Task follow(BackgroundTasks tasks, Runnable changed) {
        return informer.follow(tasks, changed);
    }

    @Override
    public Optional<Known> of(ObjectParts object, Optional<Known> before) {
        JsonObject kept = object.kept();
        Claim claim = new Claim(
                JsonParts.text(kept, "metadata", "namespace").orElse(""),
                JsonParts.text(kept, "metadata", "name").orElse(""));
        Optional<String> dataset = JsonParts.text(kept, "metadata", "annotations", ClaimRef.DATASET);
        boolean isLong = dataset.filter(text -> text.length() > LONGEST).isPresent();
        Known now = new Known(
                claim,
                isLong ? Optional.empty() : dataset,
                object.whole() && !isLong,
                JsonParts.text(kept, "spec", "volumeName")
                        .filter(name -> !name.isEmpty())
                        .isPresent());
        known.put(claim, now);
        return Optional.of(now);
    }

    @Override
    public void gone(Known before) {
        known.remove(before.claim(), before);
    }

    /// What a claim shows; empty if there is none, or its PersistentVolume is not known yet.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if its annotation is longer than any name
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) as [Informer#all]
    Optional<Claimed> of(Claim claim) {
        informer.bringUp();
        Optional<Known> found = Optional.ofNullable(known.get(claim));
        if (found.filter(each -> !each.isLegible()).isPresent()) {
            throw new DriverException.InvalidRequest("annotation " + ClaimRef.DATASET + " of PersistentVolumeClaim "
                    + claim.namespace() + "/" + claim.name() + " is longer than any dataset's name");
        }
        Optional<Claimed> named = found.flatMap(Known::dataset).map(Claimed.Named::new);
        return named.or(() ->
                found.filter(Known::isBound).flatMap(_ -> volumes.of(claim)).map(GateClaims::shown));
    }

    private static Claimed shown(PersistentVolumes.Standing volume) {
        return volume.dataset().<Claimed>map(Claimed.Volume::new).orElseGet(Claimed.Other::new);
    }
}
