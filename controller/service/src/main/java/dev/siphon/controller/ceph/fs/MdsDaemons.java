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

/// Sends commands about sessions to the MDS daemons (`src/mds/MDSDaemon.cc`). An MDS accepts them only from
/// identities that may do everything in its file system.
final class MdsDaemons {
    private final Function<String, CephConnection> connections;
    private final Function<String, CephFs> clients;

    /// @param clients returns the client for commands to the MDS daemons of a cluster
    MdsDaemons(Function<String, CephConnection> connections, Function<String, CephFs> clients) {
        this.connections = connections;
        this.clients = clients;
    }

    /// Returns the global ids of the daemons that hold a rank of the file system; each has its own sessions.
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

    /// Returns the sessions of a daemon.
    ///
    /// @param filters such as `auth_name=ID`; none for all sessions
    List<MdsSession> sessions(String cluster, long daemon, String... filters) {
        return send(cluster, daemon, "session ls", MdsSession::list, filters);
    }

    /// Evicts a client by its session; the OSDs refuse it from then on. A missing session is no error.
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
