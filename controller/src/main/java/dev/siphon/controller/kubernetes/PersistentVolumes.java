package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.csi.VolumeId;
import io.fabric8.kubernetes.api.model.CSIPersistentVolumeSource;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeStatus;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;

/// What the PersistentVolumes of this driver's volumes are called. The API finds none by its volume, so all are
/// listed, more and more seldom: after a start the volumes that are looked for are found soon, or nobody has a
/// PersistentVolume for them.
final class PersistentVolumes {
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(5);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    private static final int PAGE = 250;
    private static final String SPEC = "spec";
    /// What is read here of one.
    static final Keep PARTS =
            Keep.of("metadata.name", "spec.claimRef", "spec.csi.driver", "spec.csi.volumeHandle", "status.phase");
    static final Set<String> RELEASED = Set.of("Released", "Failed");

    private final KubernetesApi api;
    private final String driver;
    private final LongSupplier nanoTime;
    private final ReentrantLock looking = new ReentrantLock();

    /// Under [#looking].
    private Duration pause = FIRST_PAUSE;

    private Optional<Long> last = Optional.empty();

    /// @param driver the CSI driver's name
    PersistentVolumes(KubernetesApi api, String driver, LongSupplier nanoTime) {
        this.api = api;
        this.driver = driver;
        this.nanoTime = nanoTime;
    }

    /// A PersistentVolume.
    ///
    /// @param namespace of its claim; empty if it has none, or that claim is gone
    record Standing(String name, Optional<String> namespace) {}

    /// All PersistentVolumes of Siphon's volumes; nothing if that was asked a moment ago, or is being asked.
    Map<VolumeId.Provisioned, Standing> news() {
        if (!looking.tryLock()) {
            return Map.of();
        }
        try {
            long now = nanoTime.getAsLong();
            if (last.filter(then -> now - then < pause.toNanos()).isPresent()) {
                return Map.of();
            }
            Map<VolumeId.Provisioned, Standing> found = list();
            pause = last.isEmpty() ? FIRST_PAUSE : longer();
            last = Optional.of(now);
            return found;
        } finally {
            looking.unlock();
        }
    }

    private Duration longer() {
        Duration twice = pause.multipliedBy(2);
        return twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
    }

    /// The same at any time.
    Map<VolumeId.Provisioned, Standing> list() {
        Map<VolumeId.Provisioned, Standing> found = new HashMap<>();
        api.<PersistentVolume>list(
                "list PersistentVolumes",
                "",
                (server, page) -> server.persistentVolumes().list(page),
                volume -> volumeOf(volume)
                        .ifPresent(id ->
                                found.put(id, new Standing(volume.getMetadata().getName(), namespaceOf(volume)))));
        return found;
    }

    /// Hands over the claims that show datasets, as NAMESPACE/NAME, with the dataset for nobody; at any time. A
    /// PersistentVolume that was released names a claim that is gone.
    void eachOfDatasets(BiConsumer<String, VolumeId.Dataset> each) {
        boolean _ = ObjectParts.list(
                api, "list PersistentVolumes", "api/v1/persistentvolumes?limit=" + PAGE, PARTS, parts -> {
                    JsonObject volume = parts.kept();
                    Optional<JsonObject> claim = JsonParts.object(volume, SPEC, "claimRef")
                            .filter(_ -> JsonParts.text(volume, "status", "phase")
                                    .filter(RELEASED::contains)
                                    .isEmpty());
                    dataset(volume, driver)
                            .ifPresent(dataset -> claim.ifPresent(found -> each.accept(
                                    JsonParts.text(found, "namespace").orElse("") + "/"
                                            + JsonParts.text(found, "name").orElse(""),
                                    dataset.forNobody())));
                });
    }

    /// The dataset's volume that a PersistentVolume is; empty if it is something else.
    static Optional<VolumeId.Dataset> dataset(JsonObject volume, String driver) {
        return JsonParts.object(volume, SPEC, "csi")
                .filter(csi -> JsonParts.text(csi, "driver").equals(Optional.of(driver)))
                .flatMap(csi -> JsonParts.text(csi, "volumeHandle"))
                .flatMap(VolumeId.Dataset::tryParse);
    }

    private static Optional<String> namespaceOf(PersistentVolume volume) {
        boolean released = Optional.ofNullable(volume.getStatus())
                .map(PersistentVolumeStatus::getPhase)
                .filter(RELEASED::contains)
                .isPresent();
        return released
                ? Optional.empty()
                : Optional.ofNullable(volume.getSpec().getClaimRef()).map(ObjectReference::getNamespace);
    }

    private Optional<VolumeId.Provisioned> volumeOf(PersistentVolume volume) {
        return Optional.ofNullable(volume.getSpec().getCsi())
                .filter(csi -> driver.equals(csi.getDriver()))
                .map(CSIPersistentVolumeSource::getVolumeHandle)
                .flatMap(VolumeId::tryParse)
                .filter(VolumeId.Provisioned.class::isInstance)
                .map(VolumeId.Provisioned.class::cast);
    }
}
