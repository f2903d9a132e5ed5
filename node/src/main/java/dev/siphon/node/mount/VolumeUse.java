package dev.siphon.node.mount;

import java.util.List;

/// How a volume is to be used, from the request's volume capability.
///
/// @param options mount options beyond those of the volume itself
/// @param readOnlyAsked whether the request says so beside its capability (`readonly` of NodePublishVolume)
public record VolumeUse(PublishAccessMode access, List<String> options, boolean readOnlyAsked) {
    public VolumeUse {
        options = List.copyOf(options);
    }

    /// Whether nobody may write through this use, for whichever reason.
    public boolean isReadOnly() {
        return readOnlyAsked || access.isReadOnly() || options.contains("ro");
    }
}
