package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ClaimAccessMode;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.controller.volume.VolumeRequest.ResolvedVolumeSpec;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.Optional;
import java.util.OptionalLong;

/// A read-only view of a snapshot. Its subvolume holds nothing, and its name identifies the snapshot, so
/// the volume is complete as soon as it exists. Until then the snapshot's lock prevents the snapshot's
/// removal.
final class SnapshotBackedKind extends StoredKind {
    SnapshotBackedKind(Parts parts) {
        super(parts);
    }

    /// Returns whether a request with a source means this kind, not a copy.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the class requires this kind, but
    ///     the request does not fit it
    static boolean isMeant(VolumePlacement.OwnedGroup place, VolumeRequest request, ContentSource source) {
        boolean required = request.parameters().snapshotBacked().orElse(false);
        if (required && !request.readOnly()) {
            throw new DriverException.InvalidRequest(
                    "parameter snapshotBacked: a volume backed by a snapshot is read-only; ask for an access mode that"
                            + " only reads");
        }
        boolean sameAccount = SubvolumeGroup.of(source.volume()).equals(place.group());
        if (required && !sameAccount) {
            throw new DriverException.InvalidRequest("volume_content_source " + source
                    + " belongs to another account than " + place.owner().name()
                    + ": set parameter snapshotBacked to \"false\" for a copy");
        }
        boolean allowed = request.parameters().snapshotBacked().orElse(true);
        return source instanceof ContentSource.FromSnapshot && allowed && request.readOnly() && sameAccount;
    }

    /// Returns the snapshot behind a volume of this source.
    private static SnapshotId backing(ContentSource source) {
        return ((ContentSource.FromSnapshot) source).snapshot();
    }

    @Override
    String subvolume(SubvolumeGroup group, VolumeRequest request) {
        return CephNames.shallow(group, request.name(), backing(request.source().orElseThrow()));
    }

    @Override
    Volume make(ResolvedVolumeSpec requested, Optional<Subvolume> existing) {
        ContentSource source = requested.source();
        SnapshotId snapshot = backing(source);
        VolumeContext context = context(requested, snapshot.volume().subvolume() + "/.snap/" + snapshot.name(), true);
        if (existing.isPresent()) {
            return made(requested, parts.existingCheck().size(requested, existing.get()), context);
        }
        long size = parts.operations().runShared(source.lock(), () -> {
            long wanted = requested
                    .capacity()
                    .resolveSize(
                            parts.populator().origin(source, requested.id()).sizeBytes());
            parts.provisioner().make(requested, OptionalLong.of(wanted), requested.mode());
            return wanted;
        });
        return made(requested, size, context);
    }

    @Override
    public long expand(VolumeId.Provisioned id, CapacityRange range) {
        long now = live(id).quotaBytes().orElse(range.requiredBytes());
        if (range.grow(id, now) > now) {
            throw new DriverException.CapacityOutOfRange(
                    "volume " + id + " is a snapshot of " + now + " bytes and cannot grow");
        }
        return now;
    }

    @Override
    public void modify(VolumeId.Provisioned id, MutableParameters changes) {
        Subvolume _ = live(id);
        throw new DriverException.InvalidRequest(
                "mutable_parameters: volume " + id + " is a snapshot, which nothing can change");
    }

    @Override
    public VolumeId.Provisioned snapshottable(String field, VolumeId.Provisioned id) {
        throw new DriverException.InvalidRequest(field + " " + id + " is backed by a snapshot; use that snapshot");
    }

    @Override
    public void checkMode(VolumeId.Provisioned id, ClaimAccessMode mode) {
        if (!mode.readOnly()) {
            throw new DriverException.InvalidRequest(
                    "volume_capabilities: " + mode + " writes, but volume " + id + " is a snapshot");
        }
    }
}
