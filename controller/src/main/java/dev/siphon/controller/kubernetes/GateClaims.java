package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.controller.kubernetes.PersistentVolumes.ClaimKey;
import dev.siphon.controller.volume.ClaimRef;
import dev.siphon.controller.warm.WarmupCluster.ClaimContent;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// Which datasets the PersistentVolumeClaims show that pods at the gate name: by their annotation, or by the
/// PersistentVolume that they are bound to.
final class GateClaims implements Informer.Values<GateClaims.KnownClaim> {
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
    private final Informer<KnownClaim> informer;
    private final Map<ClaimKey, KnownClaim> known = new ConcurrentHashMap<>();

    /// What a claim says.
    ///
    /// @param dataset as its annotation names it
    /// @param isLegible false if the annotation is longer than any dataset's name
    /// @param isBound whether it names a PersistentVolume
    record KnownClaim(ClaimKey claim, Optional<String> dataset, boolean isLegible, boolean isBound) {}

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
    public Optional<KnownClaim> of(ObjectParts object, Optional<KnownClaim> before) {
        JsonObject kept = object.kept();
        ClaimKey claim = new ClaimKey(
                JsonParts.text(kept, "metadata", "namespace").orElse(""),
                JsonParts.text(kept, "metadata", "name").orElse(""));
        Optional<String> dataset = JsonParts.text(kept, "metadata", "annotations", ClaimRef.DATASET);
        boolean isLong = dataset.filter(text -> text.length() > LONGEST).isPresent();
        KnownClaim now = new KnownClaim(
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
    public void gone(KnownClaim before) {
        known.remove(before.claim(), before);
    }

    /// What a claim shows; empty if there is none, or its PersistentVolume is not known yet.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if its annotation is longer than any name
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) as [Informer#all]
    Optional<ClaimContent> of(ClaimKey claim) {
        informer.bringUp();
        Optional<KnownClaim> found = Optional.ofNullable(known.get(claim));
        if (found.filter(each -> !each.isLegible()).isPresent()) {
            throw new DriverException.InvalidRequest("annotation " + ClaimRef.DATASET + " of PersistentVolumeClaim "
                    + claim.namespace() + "/" + claim.name() + " is longer than any dataset's name");
        }
        Optional<ClaimContent> named = found.flatMap(KnownClaim::dataset).map(ClaimContent.Named::new);
        return named.or(() -> found.filter(KnownClaim::isBound)
                .flatMap(_ -> volumes.of(claim))
                .map(GateClaims::shown));
    }

    private static ClaimContent shown(PersistentVolumes.KnownVolume volume) {
        return volume.dataset()
                .<ClaimContent>map(ClaimContent.DatasetClaim::new)
                .orElseGet(ClaimContent.Other::new);
    }
}
