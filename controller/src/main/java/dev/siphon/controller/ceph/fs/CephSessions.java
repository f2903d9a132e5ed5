package dev.siphon.controller.ceph.fs;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephCommand.Daemon;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.volume.Group;
import dev.siphon.controller.volume.Sessions;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/// [Sessions] by the MDS daemons' own commands: `fs subvolume evict` would end all sessions of an identity,
/// on every node. Needs `mds 'allow *'`.
final class CephSessions implements Sessions {
    private final Function<String, CephConnection> connections;
    private final Function<String, CephFs> daemons;

    /// @param daemons the client for commands to the MDS daemons of that cluster
    CephSessions(Function<String, CephConnection> connections, Function<String, CephFs> daemons) {
        this.connections = connections;
        this.daemons = daemons;
    }

    @Override
    public int fence(VolumeId.Provisioned volume, NodeId node) {
        CephFs client = daemons.apply(volume.cluster());
        int ended = 0;
        for (long daemon : activeDaemons(volume)) {
            for (long session : sessions(client, daemon, volume, node)) {
                JsonObject evict = command("client evict");
                JsonArray filters = new JsonArray();
                filters.add("id=" + session);
                evict.add("filters", filters);
                client.call("client evict", mds -> mds.client().command(daemon, evict.toString()));
                ended++;
            }
        }
        return ended;
    }

    /// The global ids of the daemons that hold a rank of the volume's file system; each has sessions of its
    /// own.
    private List<Long> activeDaemons(VolumeId.Provisioned volume) {
        CephCommand command = CephCommand.read(Daemon.MON, "fs get").with("fs_name", volume.fileSystem());
        JsonObject map = connections
                .apply(volume.cluster())
                .call(command)
                .json()
                .getAsJsonObject()
                .getAsJsonObject("mdsmap");
        List<Long> ids = new ArrayList<>();
        for (Map.Entry<String, JsonElement> rank : map.getAsJsonObject("up").entrySet()) {
            ids.add(rank.getValue().getAsLong());
        }
        return ids;
    }

    private static List<Long> sessions(CephFs client, long daemon, VolumeId.Provisioned volume, NodeId node) {
        String reply = client.call(
                "session ls",
                mds -> mds.client().command(daemon, command("session ls").toString()));
        return JsonParser.parseString(reply).getAsJsonArray().asList().stream()
                .map(JsonElement::getAsJsonObject)
                .filter(session -> isOf(node, session) && reaches(volume, session))
                .map(session -> session.get("id").getAsLong())
                .toList();
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

    /// Whether the client has mounted the volume's group, or something in it that holds the volume, and does not
    /// say that it is there for another volume: ceph-fuse runs once per volume and says for which, the kernel's
    /// client may serve all volumes of an account.
    static boolean reaches(VolumeId.Provisioned volume, JsonObject session) {
        if (metadata(session, "volume_id")
                .filter(id -> !id.equals(volume.toString()))
                .isPresent()) {
            return false;
        }
        String group = Group.of(volume).path();
        String own = group + "/" + volume.subvolume();
        return metadata(session, "root")
                .filter(root -> root.equals(group) || root.equals(own) || root.startsWith(own + "/"))
                .isPresent();
    }

    private static Optional<String> metadata(JsonObject session, String key) {
        JsonObject metadata = session.getAsJsonObject("client_metadata");
        return Optional.ofNullable(metadata)
                .map(all -> all.get(key))
                .filter(JsonElement::isJsonPrimitive)
                .map(JsonElement::getAsString);
    }

    /// The IP address of a session: its entity's `addr` is `IP:PORT` or `[IP]:PORT`.
    private static String address(JsonObject session) {
        String text = session.getAsJsonObject("entity")
                .getAsJsonObject("addr")
                .get("addr")
                .getAsString();
        String ip = text.substring(0, Math.max(0, text.lastIndexOf(':')));
        return ip.startsWith("[") ? ip.substring(1, ip.length() - 1) : ip;
    }

    private static JsonObject command(String prefix) {
        JsonObject json = new JsonObject();
        json.addProperty("prefix", prefix);
        json.addProperty("format", "json");
        return json;
    }
}
