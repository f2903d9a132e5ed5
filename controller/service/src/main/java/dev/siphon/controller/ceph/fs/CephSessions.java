package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.key.VolumeIdentity;
import dev.siphon.controller.volume.MdsSessions;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeId;
import java.util.Optional;

/// Implements [MdsSessions] with the MDS daemons' own commands: `fs subvolume evict` would end all sessions of an
/// identity, on every node. Needs `mds 'allow * fsname=FS'`.
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

    /// Returns whether the client reports the node's host name, or connects from its address.
    static boolean isOf(NodeId node, MdsSession session) {
        boolean sameName = session.says("hostname").filter(node.name()::equals).isPresent();
        return sameName
                || node.address()
                        .filter(address -> address.equals(ip(session.address())))
                        .isPresent();
    }

    /// Returns whether the client may be using the volume. A session opened with the key of one volume belongs to
    /// that volume, whatever the client reports. With a key for several volumes, the client must have mounted the
    /// volume's group, or the volume's directory or one below. ceph-fuse also reports the volume's id; a kernel
    /// client may serve all volumes of an account.
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

    /// Returns the identity that the MDS authenticated, without `client.`; if the MDS does not list it, the one
    /// that the client reports.
    static Optional<String> authenticated(MdsSession session) {
        return session.authenticated().or(() -> session.says("entity_id"));
    }

    /// Returns the IP of `IP:PORT` or `[IP]:PORT`.
    static String ip(String text) {
        String ip = text.substring(0, Math.max(0, text.lastIndexOf(':')));
        return ip.startsWith("[") && ip.endsWith("]") ? ip.substring(1, ip.length() - 1) : ip;
    }
}
