package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.key.VolumeIdentity;
import dev.siphon.controller.volume.MdsSessions;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeId;
import java.util.Optional;

/// [MdsSessions] by the MDS daemons' own commands: `fs subvolume evict` would end all sessions of an identity,
/// on every node. Needs `mds 'allow * fsname=FS'`.
final class CephSessions implements MdsSessions {
    private final MdsDaemons daemons;

    CephSessions(MdsDaemons daemons) {
        this.daemons = daemons;
    }

    @Override
    public int fence(VolumeId.Provisioned volume, NodeId node) {
        int ended = 0;
        for (long daemon : daemons.active(volume.cluster(), volume.fileSystem())) {
            for (MdsSession session : daemons.sessions(volume.cluster(), daemon)) {
                if (isOf(node, session) && reaches(volume, session)) {
                    daemons.evict(volume.cluster(), daemon, session.id());
                    ended++;
                }
            }
        }
        return ended;
    }

    /// Whether the client reports the node's host name, or comes from its address.
    static boolean isOf(NodeId node, MdsSession session) {
        boolean sameName = session.says("hostname").filter(node.name()::equals).isPresent();
        return sameName
                || node.address()
                        .filter(address -> address.equals(ip(session.address())))
                        .isPresent();
    }

    /// Whether the client may be using the volume. If a key of one volume opened the session, it is that volume's,
    /// and what the client says of itself counts for nothing. With a key for many, the client has mounted the
    /// volume's group, or something in it that holds the volume; ceph-fuse says for which volume, while the
    /// kernel's client may serve all volumes of an account.
    static boolean reaches(VolumeId.Provisioned volume, MdsSession session) {
        return authenticated(session)
                .flatMap(id -> VolumeIdentity.parse(volume.cluster(), volume.fileSystem(), id))
                .map(identity -> identity.volume().equals(volume))
                .orElseGet(() -> says(volume, session));
    }

    private static boolean says(VolumeId.Provisioned volume, MdsSession session) {
        String group = SubvolumeGroup.of(volume).path();
        String own = group + "/" + volume.subvolume();
        return session.says("volume_id")
                        .filter(id -> !id.equals(volume.toString()))
                        .isEmpty()
                && session.says("root")
                        .filter(root -> root.equals(group) || root.equals(own) || root.startsWith(own + "/"))
                        .isPresent();
    }

    /// Whom the MDS found the client to be when it authenticated it, without `client.`; of an MDS that does not
    /// tell, whom the client says to be.
    static Optional<String> authenticated(MdsSession session) {
        return session.authenticated().or(() -> session.says("entity_id"));
    }

    /// What of `IP:PORT` or `[IP]:PORT` is the IP.
    static String ip(String text) {
        String ip = text.substring(0, Math.max(0, text.lastIndexOf(':')));
        return ip.startsWith("[") && ip.endsWith("]") ? ip.substring(1, ip.length() - 1) : ip;
    }
}
