package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;

/// What NodeStageVolume asks for.
///
/// @param staging where the volume is to be seen
/// @param context where the volume lives
/// @param use how it is to be used
public record StageRequest(
        VolumeId volume, TargetPath staging, VolumeContext context, VolumeUse use, CephCredentials credentials) {
    /// The same, to be seen at `place`.
    StageRequest at(TargetPath place) {
        return new StageRequest(volume, place, context, use, credentials);
    }

    /// Refuses to stage what is not the volume's account's. Who may see what is staged is decided by the volume's
    /// id when it is published, and that may be by another PV of the same id, whose context says nothing of this.
    ///
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the context leads elsewhere; a person may have
    ///     written it
    void checkPlace() {
        String own = switch (volume) {
            case VolumeId.Provisioned made -> "/volumes/" + made.group();
            case VolumeId.ByHand fixed -> fixed.path();
        };
        if (!context.mountPath().equals(own)) {
            throw new DriverException.AccessDenied(
                    "volume " + volume + " is in " + own + ", and its volume_context leads to "
                            + QuotedText.of(context.mountPath()) + "; leave mountPath out");
        }
    }

    /// The options to mount with: the class's and the PV's.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for an option that is not allowed
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the volume cannot be written and the mode wants
    ///     to write
    ClientOptions options() {
        if (context.readOnly() && !use.isReadOnly()) {
            throw new DriverException.InUse(
                    "volume " + volume + " can only be read; ask for it with a read-only access mode");
        }
        List<String> all = new ArrayList<>(context.mountOptions());
        all.addAll(use.options());
        return ClientOptions.of(all, use.isReadOnly());
    }
}
