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

/// Finds the datasets of claims that gated pods name: by the claim's annotation, or by its PersistentVolume.
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

    /// Longer than any dataset's name; tenants may write 256 KiB.
    private static final int LONGEST = 512;

    private final PersistentVolumes volumes;
    private final Informer<KnownClaim> informer;
    private final Map<ClaimKey, KnownClaim> known = new ConcurrentHashMap<>();

    /// A cached claim.
    ///
    /// @param dataset from its annotation
    /// @param isLegible false if the annotation is too long to be a dataset's name, or the claim was not read
    ///     completely
    /// @param isBound whether it names a PersistentVolume
    record KnownClaim(ClaimKey claim, Optional<String> dataset, boolean isLegible, boolean isBound) {}

    GateClaims(KubernetesApi api, PersistentVolumes volumes) {
        this.volumes = volumes;
        this.informer = new Informer<>(api, SOURCE, this, System::nanoTime);
    }

    /// Watches the claims until the task is closed.
    ///
    /// @param changed as for [Informer#follow]
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
        Informer.forget(known, before.claim(), before);
    }

    /// Returns what a claim shows; empty if it does not exist, or its PersistentVolume is not known yet.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the claim is not legible
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
