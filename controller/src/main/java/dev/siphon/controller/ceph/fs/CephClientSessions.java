package dev.siphon.controller.ceph.fs;

import com.google.gson.JsonObject;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephCommand.Daemon;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.key.ClientSession;
import dev.siphon.controller.key.ClientSessions;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/// [ClientSessions] by the MDS daemons' own commands. Whose a session is, is what the MDS found when it
/// authenticated the client, not what the client says.
final class CephClientSessions implements ClientSessions {
    private final Function<String, CephConnection> connections;
    private final MdsDaemons daemons;

    CephClientSessions(Function<String, CephConnection> connections, MdsDaemons daemons) {
        this.connections = connections;
        this.daemons = daemons;
    }

    @Override
    public List<ClientSession> all(String cluster, String fileSystem) {
        return find(cluster, fileSystem);
    }

    @Override
    public List<ClientSession> of(String cluster, String fileSystem, String userId) {
        return find(cluster, fileSystem, "auth_name=" + userId);
    }

    private List<ClientSession> find(String cluster, String fileSystem, String... filters) {
        try {
            return read(cluster, fileSystem, filters);
        } catch (DriverException.AccessDenied denied) {
            throw new DriverException.AccessDenied(denied.getMessage()
                    + "; siphon ceph-caps --key-commands prints what the identity of cluster " + cluster + " needs");
        }
    }

    private List<ClientSession> read(String cluster, String fileSystem, String... filters) {
        List<ClientSession> found = new ArrayList<>();
        for (long daemon : daemons.active(cluster, fileSystem)) {
            daemons.sessions(cluster, daemon, filters).forEach(session -> found.add(read(daemon, session)));
        }
        return found;
    }

    private static ClientSession read(long daemon, JsonObject session) {
        return new ClientSession(
                daemon,
                session.get("id").getAsLong(),
                CephSessions.authenticated(session).orElse("?"),
                CephSessions.metadata(session, "hostname").orElse("?"),
                CephSessions.address(session));
    }

    @Override
    public void end(String cluster, ClientSession session) {
        daemons.evict(cluster, session.daemon(), session.id());
    }

    @Override
    public void block(String cluster, String address, Duration time) {
        CephCommand command = CephCommand.change(Daemon.MON, "osd blocklist")
                .with("blocklistop", "add")
                .with("addr", address)
                .with("expire", (double) time.toSeconds());
        connections.apply(cluster).call(command).orThrow();
    }
}
