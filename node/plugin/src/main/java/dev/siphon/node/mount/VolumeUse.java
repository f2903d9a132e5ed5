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

    /// How a volume may be used on this node (CSI v1.13, `VolumeCapability.PublishAccessMode`, and the table under
    /// NodePublishVolume). The controller checks what several nodes may do at once.
    public enum PublishAccessMode {
        SINGLE_NODE_WRITER(false, true),
        SINGLE_NODE_READER_ONLY(true, true),
        SINGLE_NODE_SINGLE_WRITER(false, true),
        SINGLE_NODE_MULTI_WRITER(false, false),
        MULTI_NODE_READER_ONLY(true, false),
        MULTI_NODE_SINGLE_WRITER(false, false),
        MULTI_NODE_MULTI_WRITER(false, false);

        private final boolean readOnly;
        private final boolean atOneTarget;

        PublishAccessMode(boolean readOnly, boolean atOneTarget) {
            this.readOnly = readOnly;
            this.atOneTarget = atOneTarget;
        }

        /// Whether it forbids writes.
        public boolean isReadOnly() {
            return readOnly;
        }

        /// Whether it allows only one target path.
        public boolean isAtOneTarget() {
            return atOneTarget;
        }
    }
}
