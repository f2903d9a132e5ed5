package dev.siphon.controller.ceph.fs;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephCommand.Daemon;
import dev.siphon.controller.ceph.rados.CephConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/// Commands to the MDS daemons about their sessions (`src/mds/MDSDaemon.cc`), which an MDS takes from those who may
/// do all in its file system only.
final class MdsDaemons {
    private final Function<String, CephConnection> connections;
    private final Function<String, CephFs> clients;

    /// @param clients the client for commands to the MDS daemons of that cluster
    MdsDaemons(Function<String, CephConnection> connections, Function<String, CephFs> clients) {
        this.connections = connections;
        this.clients = clients;
    }

    /// The global ids of the daemons that hold a rank of the file system; each has sessions of its own.
    List<Long> active(String cluster, String fileSystem) {
        CephCommand command = CephCommand.read(Daemon.MON, "fs get").with("fs_name", fileSystem);
        JsonObject map = connections
                .apply(cluster)
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

    /// The sessions at a daemon.
    ///
    /// @param filters such as `auth_name=ID`; all sessions without one
    List<JsonObject> sessions(String cluster, long daemon, String... filters) {
        String reply = send(cluster, daemon, "session ls", filters);
        return JsonParser.parseString(reply).getAsJsonArray().asList().stream()
                .map(JsonElement::getAsJsonObject)
                .toList();
    }

    /// Ends a session; the OSDs refuse its client from then on. One that is not there is no error.
    void evict(String cluster, long daemon, long session) {
        var _ = send(cluster, daemon, "client evict", "id=" + session);
    }

    private String send(String cluster, long daemon, String prefix, String... filters) {
        JsonObject command = new JsonObject();
        command.addProperty("prefix", prefix);
        command.addProperty("format", "json");
        if (filters.length > 0) {
            JsonArray list = new JsonArray();
            List.of(filters).forEach(list::add);
            command.add("filters", list);
        }
        return clients.apply(cluster).call(prefix, mds -> mds.client().command(daemon, command.toString()));
    }
}
