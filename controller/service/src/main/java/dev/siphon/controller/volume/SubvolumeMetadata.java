package dev.siphon.controller.volume;

/// The keys of Siphon's metadata on subvolumes (`fs subvolume metadata`).
public final class SubvolumeMetadata {
    /// Prefix of all keys.
    static final String PREFIX = "siphon.";

    /// On a complete FILLED subvolume: the id of the snapshot or volume it was filled from.
    public static final String SOURCE = PREFIX + "source";

    /// Prefix of the keys of attached nodes, one each; [PublishedNodes] defines the value.
    static final String NODE = PREFIX + "node.";

    private SubvolumeMetadata() {}
}
