package dev.siphon.node.mount;

import dev.siphon.csi.ContainerUser;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.Optional;

/// The content of a NodePublishVolume request.
///
/// @param staging where the volume is staged
/// @param target where to mount it as well
/// @param use how to mount it there
/// @param context where the volume lives; optional in CSI
/// @param credentials needed only to restage the volume
/// @param caches for a dataset: which cache directories suit the pod
public record PublishRequest(
        VolumeId volume,
        TargetPath staging,
        TargetPath target,
        VolumeUse use,
        Optional<VolumeContext> context,
        Optional<CephCredentials> credentials,
        CachePreference caches) {
    /// Returns a copy for a volume whose staged mount is at `place`.
    PublishRequest stagedAt(TargetPath place) {
        return new PublishRequest(volume, place, target, use, context, credentials, caches);
    }

    /// Returns the container's user that the volume's owner is mapped to; empty for no mapping.
    Optional<ContainerUser> containerUser() {
        return context.flatMap(VolumeContext::containerUser);
    }

    /// Returns a request to restage the volume, or empty if this request lacks the context or the credentials.
    Optional<StageRequest> restage() {
        return context.flatMap(where -> credentials.map(who -> {
            // as the access mode allows: `readonly` applies to this target only
            VolumeUse staged = new VolumeUse(use.access(), use.options(), false);
            return new StageRequest(volume, staging, where, staged, who);
        }));
    }
}
