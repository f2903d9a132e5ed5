package dev.siphon.controller.volume;

/// The keys of the notes that Siphon writes on subvolumes (`fs subvolume metadata`).
public final class SubvolumeMetadata {
    /// All keys begin with this.
    static final String PREFIX = "siphon.";

    /// On a FILLED subvolume, once it is whole: the id of the snapshot or volume it came from.
    public static final String SOURCE = PREFIX + "source";

    /// On a subvolume: begins the key of one node it is attached to; the value is an [PublishedNodes] record.
    static final String NODE = PREFIX + "node.";

    private SubvolumeMetadata() {}
}
