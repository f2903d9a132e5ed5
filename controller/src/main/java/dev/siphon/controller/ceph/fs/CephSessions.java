package dev.siphon.controller.ceph.fs;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.siphon.controller.key.VolumeIdentity;
import dev.siphon.controller.volume.Group;
import dev.siphon.controller.volume.Sessions;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeId;
import java.util.Optional;

/// [Sessions] by the MDS daemons' own commands: `fs subvolume evict` would end all sessions of an identity,
/// on every node. Needs `mds 'allow * fsname=FS'`.
final class CephSessions implements Sessions {
    private final MdsDaemons daemons;

    CephSessions(MdsDaemons daemons) {
        this.daemons = daemons;
    }

    @Override
    public int fence(VolumeId.Provisioned volume, NodeId node) {
        int ended = 0;
        for (long daemon : daemons.active(volume.cluster(), volume.fileSystem())) {
            for (JsonObject session : daemons.sessions(volume.cluster(), daemon)) {
                if (isOf(node, session) && reaches(volume, session)) {
                    daemons.evict(volume.cluster(), daemon, session.get("id").getAsLong());
                    ended++;
                }
            }
        }
        return ended;
    }

    /// Whether the client reports the node's host name, or comes from its address.
    static boolean isOf(NodeId node, JsonObject session) {
        boolean sameName =
                metadata(session, "hostname").filter(node.name()::equals).isPresent();
        return sameName
                || node.address()
                        .filter(address -> address.equals(address(session)))
                        .isPresent();
    }

    /// Whether the client has mounted the volume's group, or something in it that holds the volume, and is not
    /// there for another volume: ceph-fuse says for which one, and the key of one opens no other. With a key for
    /// many, the kernel's client may serve all volumes of an account.
    static boolean reaches(VolumeId.Provisioned volume, JsonObject session) {
        if (isForAnother(volume, session)) {
            return false;
        }
        String group = Group.of(volume).path();
        String own = group + "/" + volume.subvolume();
        return metadata(session, "root")
                .filter(root -> root.equals(group) || root.equals(own) || root.startsWith(own + "/"))
                .isPresent();
    }

    /// Whether the client may be using the volume: it [#reaches] it, or a key of the volume opened the session, which
    /// leads a door's client elsewhere.
    static boolean mayUse(VolumeId.Provisioned volume, JsonObject session) {
        return reaches(volume, session)
                || authenticated(session)
                        .flatMap(id -> VolumeIdentity.parse(volume.cluster(), volume.fileSystem(), id))
                        .filter(identity -> identity.volume().equals(volume))
                        .isPresent();
    }

    private static boolean isForAnother(VolumeId.Provisioned volume, JsonObject session) {
        boolean says = metadata(session, "volume_id")
                .filter(id -> !id.equals(volume.toString()))
                .isPresent();
        return says
                || authenticated(session)
                        .flatMap(id -> VolumeIdentity.parse(volume.cluster(), volume.fileSystem(), id))
                        .filter(identity -> !identity.volume().equals(volume))
                        .isPresent();
    }

    /// Whom the MDS found the client to be when it authenticated it, without `client.`; of an MDS that does not tell,
    /// whom the client says to be.
    static Optional<String> authenticated(JsonObject session) {
        return Optional.ofNullable(session.getAsJsonObject("auth_name"))
                .map(name -> name.get("id").getAsString())
                .or(() -> metadata(session, "entity_id"));
    }

    static Optional<String> metadata(JsonObject session, String key) {
        JsonObject metadata = session.getAsJsonObject("client_metadata");
        return Optional.ofNullable(metadata)
                .map(all -> all.get(key))
                .filter(JsonElement::isJsonPrimitive)
                .map(JsonElement::getAsString);
    }

    /// The IP address of a session: its entity's `addr` is `IP:PORT` or `[IP]:PORT`.
    static String address(JsonObject session) {
        return ip(session.getAsJsonObject("entity")
                .getAsJsonObject("addr")
                .get("addr")
                .getAsString());
    }

    /// What of `IP:PORT` or `[IP]:PORT` is the IP.
    static String ip(String text) {
        String ip = text.substring(0, Math.max(0, text.lastIndexOf(':')));
        return ip.startsWith("[") && ip.endsWith("]") ? ip.substring(1, ip.length() - 1) : ip;
    }
}
