package dev.siphon.node.mount;

import dev.siphon.csi.ContainerUser;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// What NodePublishVolume asks for.
///
/// @param staging where the volume was staged
/// @param target where it is to be seen as well
/// @param use how it is to be used there
/// @param context where the volume lives; CSI lets the caller leave it out
/// @param credentials needed only to stage the volume anew
/// @param nearest of a dataset: the cache directories that are nearest to the pod's devices; none if it does not
///     matter
public record PublishRequest(
        VolumeId volume,
        TargetPath staging,
        TargetPath target,
        VolumeUse use,
        Optional<VolumeContext> context,
        Optional<CephCredentials> credentials,
        List<Path> nearest) {
    public PublishRequest {
        nearest = List.copyOf(nearest);
    }

    /// The same of a volume that is seen at `place` where it was staged.
    PublishRequest stagedAt(TargetPath place) {
        return new PublishRequest(volume, place, target, use, context, credentials, nearest);
    }

    /// The user of the container who is to be the account.
    Optional<ContainerUser> containerUser() {
        return context.flatMap(VolumeContext::containerUser);
    }

    /// What staging this volume would take, if the request brought enough for that.
    Optional<StageRequest> restage() {
        return context.flatMap(where -> credentials.map(who -> {
            // staged as the access mode allows: `readonly` is of this target alone
            VolumeUse staged = new VolumeUse(use.access(), use.options(), false);
            return new StageRequest(volume, staging, where, staged, who);
        }));
    }
}
