package dev.siphon.node.mount;

import java.util.List;

/// How to use a volume, from the request's volume capability.
///
/// @param options mount options in addition to those of the volume
/// @param readOnlyAsked whether the request has `readonly` (NodePublishVolume) beside its capability
public record VolumeUse(PublishAccessMode access, List<String> options, boolean readOnlyAsked) {
    public VolumeUse {
        options = List.copyOf(options);
    }

    /// Whether this use forbids writes, for any reason.
    public boolean isReadOnly() {
        return readOnlyAsked || access.isReadOnly() || options.contains("ro");
    }
}
