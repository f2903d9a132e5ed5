package dev.siphon.controller.volume;

import dev.siphon.controller.volume.VolumeRequest.ClaimAccessMode;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/// Attach mode: records on a subvolume which nodes have the volume, so that another node can take it over from a
/// lost one. Detaching a node first evicts its Ceph sessions, through which it could still write. Off by default,
/// because attaching delays every pod by seconds.
public final class PublishedNodes {
    private final Subvolumes subvolumes;
    private final MdsSessions sessions;
    private final Volumes volumes;
    private final KeyedOperations operations;

    /// The attachments of volumes, once read. The one leader writes them all, and listings request them all.
    private final Map<VolumeId.Provisioned, List<Attachment>> known = new ConcurrentHashMap<>();

    private final AtomicLong changes = new AtomicLong();

    public PublishedNodes(CephPorts ports, Volumes volumes, KeyedOperations operations) {
        this.subvolumes = ports.subvolumes();
        this.sessions = ports.sessions();
        this.volumes = volumes;
        this.operations = operations;
    }

    /// A volume attached to a node, in the form of its metadata: `NODE_ID|MODE|READONLY`.
    private record Attachment(NodeId node, ClaimAccessMode mode, boolean readOnly) {
        boolean writes() {
            return !readOnly && !mode.readOnly();
        }

        String text() {
            return node + "|" + mode + "|" + readOnly;
        }

        static Attachment parse(String text) {
            String[] parts = text.split("\\|", -1);
            if (parts.length != 3) {
                throw new DriverException.BackendFault("a note of an attachment cannot be read: " + text);
            }
            return new Attachment(
                    NodeId.parse(parts[0]), ClaimAccessMode.valueOf(parts[1]), Boolean.parseBoolean(parts[2]));
        }
    }

    /// Attaches a volume to a node (CSI v1.13, ControllerPublishVolume). Idempotent.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the volume or the node does not exist
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if it is attached there in another way
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if another node has it and the modes do not allow both
    public void attach(VolumeId id, String nodeId, ClaimAccessMode mode, boolean readOnly) {
        Attachment wanted = new Attachment(knownNode(nodeId), mode, readOnly);
        if (!(id instanceof VolumeId.Provisioned volume)) {
            volumes.get(id);
            return;
        }
        operations.run(Volumes.key(volume), () -> {
            Map<String, String> notes = subvolumes.notes(volume);
            String key = SubvolumeMetadata.NODE + CephNames.node(nodeId);
            Optional<Attachment> here = Optional.ofNullable(notes.get(key)).map(Attachment::parse);
            if (here.isPresent()) {
                if (!here.get().equals(wanted)) {
                    throw new DriverException.IncompatibleExisting("volume " + id + " is attached to node " + nodeId
                            + " as " + here.get().text() + ", not as " + wanted.text());
                }
                return;
            }
            attachments(notes).forEach(other -> checkBeside(volume, other, wanted));
            subvolumes.setNote(volume, key, wanted.text());
            forget(volume);
        });
    }

    private static void checkBeside(VolumeId volume, Attachment other, Attachment wanted) {
        String detach = "; detach it there first";
        if (!wanted.mode().multiNode() || !other.mode().multiNode()) {
            throw new DriverException.InUse("volume " + volume + " is attached to node " + other.node() + " as "
                    + other.mode() + ", and cannot be attached elsewhere as " + wanted.mode() + detach);
        }
        boolean oneWriter = wanted.mode() == ClaimAccessMode.MULTI_NODE_SINGLE_WRITER
                || other.mode() == ClaimAccessMode.MULTI_NODE_SINGLE_WRITER;
        if (oneWriter && wanted.writes() && other.writes()) {
            throw new DriverException.InUse("volume " + volume + " is attached to node " + other.node()
                    + ", which writes, and MULTI_NODE_SINGLE_WRITER allows one writer" + detach);
        }
    }

    /// Detaches a volume from a node, after evicting its sessions there (CSI v1.13, ControllerUnpublishVolume).
    /// Idempotent; a missing volume counts as detached.
    ///
    /// @param nodeId empty for every node
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the node cannot be fenced now
    public void detach(VolumeId id, Optional<String> nodeId) {
        if (!(id instanceof VolumeId.Provisioned volume)) {
            return;
        }
        operations.run(Volumes.key(volume), () -> {
            Map<String, String> notes;
            try {
                notes = subvolumes.notes(volume);
            } catch (DriverException.NotFound gone) {
                return;
            }
            for (Attachment attachment : attachments(notes)) {
                if (nodeId.filter(only -> !only.equals(attachment.node().toString()))
                        .isEmpty()) {
                    sessions.fence(volume, attachment.node());
                    subvolumes.removeNote(
                            volume,
                            SubvolumeMetadata.NODE
                                    + CephNames.node(attachment.node().toString()));
                    forget(volume);
                }
            }
        });
    }

    /// Returns the nodes that have a volume; empty if it is gone, static or a dataset.
    public List<String> nodes(VolumeId id) {
        if (!(id instanceof VolumeId.Provisioned volume)) {
            return List.of();
        }
        List<Attachment> attachments = Optional.ofNullable(known.get(volume)).orElseGet(() -> read(volume));
        return attachments.stream()
                .map(attachment -> attachment.node().toString())
                .sorted()
                .toList();
    }

    /// Refuses an operation on a volume that a node has.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a node has it
    public void checkDetached(VolumeId id) {
        if (id instanceof VolumeId.Provisioned volume) {
            List<Attachment> attachments = read(volume);
            forget(volume);
            if (!attachments.isEmpty()) {
                throw new DriverException.InUse("volume " + id + " is attached to node "
                        + attachments.getFirst().node() + "; detach it first");
            }
        }
    }

    private void forget(VolumeId.Provisioned volume) {
        known.compute(volume, (_, _) -> {
            changes.incrementAndGet();
            return null;
        });
    }

    /// Reads the attachments and caches them, unless they changed meanwhile.
    private List<Attachment> read(VolumeId.Provisioned volume) {
        long before = changes.get();
        try {
            List<Attachment> attachments = attachments(subvolumes.notes(volume));
            known.compute(volume, (_, old) -> changes.get() == before ? attachments : old);
            return attachments;
        } catch (DriverException.NotFound gone) {
            return List.of();
        }
    }

    private static List<Attachment> attachments(Map<String, String> notes) {
        return notes.entrySet().stream()
                .filter(note -> note.getKey().startsWith(SubvolumeMetadata.NODE))
                .map(note -> Attachment.parse(note.getValue()))
                .toList();
    }

    /// Parses a node's id. Only a node with an address in its id can be fenced; attach mode knows no others.
    private static NodeId knownNode(String nodeId) {
        return NodeId.tryParse(nodeId)
                .filter(node -> node.address().isPresent())
                .orElseThrow(() -> new DriverException.NotFound("node_id " + QuotedText.of(nodeId)
                        + " is not a node of this driver in attach mode: there, ids have the form NAME@ADDRESS"
                        + " (siphon node --node-address)"));
    }
}
