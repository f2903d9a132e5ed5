package dev.siphon.controller.volume;

/// The keys of the notes that Siphon writes on subvolumes and snapshots (`fs subvolume metadata`).
final class Notes {
    /// All keys begin with this.
    static final String PREFIX = "siphon.";

    /// On a FILLED or SHALLOW subvolume, once it is whole: the id of the snapshot or volume it came from.
    static final String SOURCE = PREFIX + "source";

    /// On a snapshot: the size in bytes that its volume had, which a volume made from it must at least have.
    static final String SIZE = PREFIX + "size";

    /// On a snapshot: begins the key of one volume that needs it, followed by that volume's subvolume name.
    static final String NEEDED_BY = PREFIX + "needed-by.";

    /// On a subvolume: begins the key of one node it is attached to; the value is an [Attachments] record.
    static final String NODE = PREFIX + "node.";

    private Notes() {}
}
