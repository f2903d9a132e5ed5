package dev.siphon.controller.volume;

/// The access modes of CSI v1.13 and what each allows.
public enum ClaimAccessMode {
    SINGLE_NODE_WRITER(false, false),
    SINGLE_NODE_READER_ONLY(false, true),
    MULTI_NODE_READER_ONLY(true, true),
    MULTI_NODE_SINGLE_WRITER(true, false),
    MULTI_NODE_MULTI_WRITER(true, false),
    SINGLE_NODE_SINGLE_WRITER(false, false),
    SINGLE_NODE_MULTI_WRITER(false, false);

    private final boolean multiNode;
    private final boolean readOnly;

    ClaimAccessMode(boolean multiNode, boolean readOnly) {
        this.multiNode = multiNode;
        this.readOnly = readOnly;
    }

    /// Returns whether several nodes may use the volume at once.
    public boolean multiNode() {
        return multiNode;
    }

    /// Returns whether the volume is only read.
    public boolean readOnly() {
        return readOnly;
    }
}
