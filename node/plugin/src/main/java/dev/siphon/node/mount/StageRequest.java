package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;

/// The content of a NodeStageVolume request.
///
/// @param staging where to mount the volume
/// @param context where the volume lives
/// @param use how to mount it
public record StageRequest(
        VolumeId volume, TargetPath staging, VolumeContext context, VolumeUse use, CephCredentials credentials) {
    /// Returns a copy that mounts at `place`.
    StageRequest at(TargetPath place) {
        return new StageRequest(volume, place, context, use, credentials);
    }

    /// Checks that the context stays in the directory of the volume's account. Publishing checks access by the
    /// volume's id alone, possibly for another PV with the same id and another context.
    ///
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the context leads elsewhere; a person may have
    ///     written it
    void checkPlace() {
        String own = switch (volume) {
            case VolumeId.Provisioned made -> "/volumes/" + made.group();
            case VolumeId.WithPath fixed -> fixed.path();
        };
        if (!context.mountPath().equals(own)) {
            throw new DriverException.AccessDenied(
                    "volume " + volume + " is in " + own + ", and its volume_context leads to "
                            + QuotedText.of(context.mountPath()) + "; leave mountPath out");
        }
    }

    /// Returns the mount options of the class and the PV.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if an option is not allowed
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the volume is read-only but the access mode is not
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
