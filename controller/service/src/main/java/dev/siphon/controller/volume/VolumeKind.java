package dev.siphon.controller.volume;

import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ClaimAccessMode;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;

/// A kind of volume. Each kind is one class. It knows how a volume of its kind is checked, created,
/// found, shown, changed and deleted, or refuses what its kind cannot do; [Volumes] only chooses the
/// kind. A new kind is a new class, and the compiler names what it lacks, and the choices that do not
/// know it yet (docs/adr/0048).
///
/// @param <I> the ids of its volumes
sealed interface VolumeKind<I extends VolumeId> permits StoredKind, StaticKind, DatasetKind {
    /// Returns what is known of a volume (CSI v1.13, ControllerGetVolume).
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if there is none
    Volume get(I id);

    /// Deletes a volume. A missing one is no error (CSI v1.13, DeleteVolume).
    ///
    /// @param home the home that goes too, from the secret [Homes#DELETE]; empty for none. Volumes
    ///     without a subvolume ignore it
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it cannot be deleted: always for a static
    ///     volume and a dataset without a claim, even if it does not exist
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `home` is this volume, it has a
    ///     subvolume, and it is no home
    void delete(I id, String home);

    /// Grows a volume to at least the size that `range` requires (CSI v1.13, ControllerExpandVolume).
    /// The caller holds the volume's lock.
    ///
    /// @return its size now, in bytes
    /// @throws DriverException as [Volumes#expand]
    long expand(I id, CapacityRange range);

    /// Changes the mutable parameters of a volume (CSI v1.13, ControllerModifyVolume). The caller holds
    /// the volume's lock.
    ///
    /// @throws DriverException as [Volumes#modify]
    void modify(I id, MutableParameters changes);

    /// Returns the volume, if a snapshot of it would hold its contents.
    ///
    /// @param field the request's field, for the message
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it would not
    VolumeId.Provisioned snapshottable(String field, I id);

    /// Refuses an access mode that volumes of this kind cannot have.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the mode writes, and nobody can
    void checkMode(I id, ClaimAccessMode mode);
}
