package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
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
