package dev.siphon.controller.ceph.fs;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephCommand.Daemon;
import dev.siphon.controller.ceph.rados.CephConnection;
import java.nio.ByteBuffer;
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
    List<MdsSession> sessions(String cluster, long daemon, String... filters) {
        return send(cluster, daemon, "session ls", MdsSession::list, filters);
    }

    /// Ends a session; the OSDs refuse its client from then on. One that is not there is no error.
    void evict(String cluster, long daemon, long session) {
        boolean _ = send(cluster, daemon, "client evict", _ -> true, "id=" + session);
    }

    private <T> T send(String cluster, long daemon, String prefix, Function<ByteBuffer, T> reading, String... filters) {
        JsonObject command = new JsonObject();
        command.addProperty("prefix", prefix);
        command.addProperty("format", "json");
        if (filters.length > 0) {
            JsonArray list = new JsonArray();
            List.of(filters).forEach(list::add);
            command.add("filters", list);
        }
        return clients.apply(cluster).call(prefix, mds -> mds.client().command(daemon, command.toString(), reading));
    }
}
