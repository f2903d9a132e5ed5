package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.OptionalLong;

/// Reports the health of volumes as the cluster sees it (CSI v1.13, ControllerGetVolumeHealth,
/// ControllerListVolumeHealth).
public final class ClusterVolumeHealth {
    private final Subvolumes subvolumes;
    private final Volumes volumes;
    private final VolumeListing volumeListing;

    public ClusterVolumeHealth(CephPorts ports, Volumes volumes, VolumeListing volumeListing) {
        this.subvolumes = ports.subvolumes();
        this.volumes = volumes;
        this.volumeListing = volumeListing;
    }

    /// One problem of a volume; a healthy volume has none.
    ///
    /// @param kind its severity
    /// @param reason one word for programs
    /// @param message the problem and what to do, for people
    public record Trouble(Kind kind, String reason, String message) {
        /// The severity, in CSI's terms.
        public enum Kind {
            DEGRADED,
            INACCESSIBLE,
            DATA_LOSS
        }
    }

    /// A volume with its problems.
    public record Report(VolumeId id, List<Trouble> troubles) {
        public Report {
            troubles = List.copyOf(troubles);
        }
    }

    /// Returns a volume's problems.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is no such volume
    public Report of(VolumeId id) {
        return switch (id) {
            case VolumeId.WithPath fixed -> {
                // NOT_FOUND if the path does not exist; a quota is no matter of health
                OptionalLong _ = volumes.quotaBytes(fixed);
                yield new Report(id, List.of());
            }
            case VolumeId.Provisioned volume ->
                subvolumes
                        .find(volume)
                        .filter(found -> found.state() != Subvolume.State.RETAINED)
                        .map(found -> new Report(id, Homes.isAlias(volume) ? behind(volume) : troubles(found)))
                        .orElseThrow(() -> new DriverException.NotFound("volume " + id + " does not exist"));
        };
    }

    /// Returns a page of the volumes that have problems (CSI v1.13, ControllerListVolumeHealth); limits and tokens
    /// are those of [VolumeListing#volumes].
    public VolumeListing.Page<Report> list(int most, String token) {
        return volumeListing.volumes(
                most,
                token,
                (id, _) -> subvolumes
                        .find(id)
                        .map(found -> new Report(id, troubles(found)))
                        .filter(report -> !report.troubles().isEmpty()));
    }

    /// Returns the problems of the home of an alias.
    private List<Trouble> behind(VolumeId.Provisioned alias) {
        VolumeId.Provisioned home = Homes.behind(alias);
        return subvolumes
                .find(home)
                .filter(found -> found.state() != Subvolume.State.RETAINED)
                .map(ClusterVolumeHealth::troubles)
                .orElseGet(() -> List.of(
                        new Trouble(Trouble.Kind.DATA_LOSS, "HomeMissing", "the home " + home + " does not exist")));
    }

    private static List<Trouble> troubles(Subvolume found) {
        return switch (found.state()) {
            case READY -> full(found);
            case CLONING ->
                List.of(new Trouble(
                        Trouble.Kind.INACCESSIBLE, "Filling", "the volume is still being filled from its source"));
            case CLONE_ENDED_BADLY ->
                List.of(new Trouble(
                        Trouble.Kind.DATA_LOSS,
                        "CloneFailed",
                        "the clone that should fill the volume failed; delete the volume"));
            case BROKEN ->
                List.of(new Trouble(
                        Trouble.Kind.INACCESSIBLE,
                        "MetadataMissing",
                        "the mgr's metadata of the subvolume is missing or broken;"
                                + " delete the volume or create it again"));
            case RETAINED -> List.of();
        };
    }

    private static List<Trouble> full(Subvolume found) {
        OptionalLong quota = found.quotaBytes();
        return quota.isPresent() && found.usedBytes() >= quota.getAsLong()
                ? List.of(new Trouble(
                        Trouble.Kind.DEGRADED,
                        "QuotaReached",
                        found.usedBytes() + " bytes of " + quota.getAsLong()
                                + " are used: writes fail with EDQUOT; delete files or expand the volume"))
                : List.of();
    }
}
