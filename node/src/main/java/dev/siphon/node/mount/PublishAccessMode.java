package dev.siphon.node.mount;

/// How a volume may be used on this node (CSI v1.13, `VolumeCapability.PublishAccessMode`, and the table under
/// NodePublishVolume). What several nodes may do at once is the controller's business.
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

    /// Whether nobody may write through it.
    public boolean isReadOnly() {
        return readOnly;
    }

    /// Whether the volume may be published at one target path only.
    public boolean isAtOneTarget() {
        return atOneTarget;
    }
}
