package dev.siphon.controller.ceph.fs;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephCommand.Daemon;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.key.ClientSession;
import dev.siphon.controller.key.ClientSessions;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Implements [ClientSessions] with the MDS daemons' own commands. A session belongs to the identity that the MDS
/// authenticated, not to the one that the client reports (see [CephSessions#authenticated]).
final class CephClientSessions implements ClientSessions {
    /// Concurrent evictions: fewer than the concurrent calls of a cluster's client.
    private static final int AT_ONCE = 16;

    /// Matches mgr caps that allow the module `volumes`, alone or with all others (`MgrCap` of Ceph).
    private static final Pattern MAKES_VOLUMES =
            Pattern.compile("allow\\s+(\\*|all\\b|rwx?\\b|module(\\s+|=)\"?volumes\\b)");

    private final Function<String, CephConnection> connections;
    private final MdsDaemons daemons;

    CephClientSessions(Function<String, CephConnection> connections, MdsDaemons daemons) {
        this.connections = connections;
        this.daemons = daemons;
    }

    @Override
    public List<ClientSession> all(String cluster, String fileSystem) {
        return find(cluster, fileSystem, _ -> true);
    }

    @Override
    public List<ClientSession> of(String cluster, String fileSystem, String userId) {
        return find(cluster, fileSystem, _ -> true, "auth_name=" + userId);
    }

    @Override
    public List<ClientSession> mounting(VolumeId.Provisioned volume) {
        return find(volume.cluster(), volume.fileSystem(), session -> CephSessions.reaches(volume, session));
    }

    private List<ClientSession> find(
            String cluster, String fileSystem, Predicate<MdsSession> which, String... filters) {
        try {
            return read(cluster, fileSystem, which, filters);
        } catch (DriverException.AccessDenied denied) {
            throw new DriverException.AccessDenied(denied.getMessage()
                    + "; siphon ceph-caps --key-commands prints what the identity of cluster " + cluster + " needs");
        }
    }

    private List<ClientSession> read(
            String cluster, String fileSystem, Predicate<MdsSession> which, String... filters) {
        List<ClientSession> found = new ArrayList<>();
        for (long daemon : daemons.active(cluster, fileSystem)) {
            daemons.sessions(cluster, daemon, filters).stream()
                    .filter(which)
                    .forEach(session -> found.add(read(daemon, session)));
        }
        return found;
    }

    private static ClientSession read(long daemon, MdsSession session) {
        return new ClientSession(
                daemon,
                session.id(),
                CephSessions.authenticated(session).orElse("?"),
                session.says("hostname").orElse("?"),
                CephSessions.ip(session.address()));
    }

    @Override
    public void end(String cluster, List<ClientSession> sessions) {
        // Each eviction waits a second for the OSD map: in sequence, the last client would go on for as many
        // seconds. Each is a native call with its own deadline, so these threads cannot hang.
        try (ExecutorService each = Executors.newFixedThreadPool(
                Math.clamp(sessions.size(), 1, AT_ONCE), Thread.ofVirtual().factory())) {
            CompletableFuture.allOf(sessions.stream()
                            .map(session -> CompletableFuture.runAsync(
                                    () -> daemons.evict(cluster, session.daemon(), session.id()), each))
                            .toArray(CompletableFuture[]::new))
                    .join();
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof DriverException cause) {
                throw cause;
            }
            throw failed;
        }
    }

    @Override
    public void block(String cluster, String address, Duration time) {
        Set<String> served = served(cluster, address);
        if (!served.isEmpty()) {
            throw new DriverException.InUse("address " + address + " of cluster " + cluster + " also belongs to "
                    + String.join(", ", served) + ", which would lose access too; nothing was blocked");
        }
        CephCommand command = CephCommand.change(Daemon.MON, "osd blocklist")
                .with("blocklistop", "add")
                .with("addr", address)
                .with("expire", (double) time.toSeconds());
        connections.apply(cluster).call(command).orThrow();
    }

    /// Returns what Siphon needs at an address: the cluster's daemons, controllers, and this process.
    private Set<String> served(String cluster, String text) {
        InetAddress address = InetAddress.ofLiteral(text);
        CephConnection connection = connections.apply(cluster);
        Set<String> found = new TreeSet<>(new DaemonAddresses(connection).at(address));
        Set<String> controllers = controllers(connection);
        for (String fileSystem : fileSystems(connection)) {
            all(cluster, fileSystem).stream()
                    .filter(session -> controllers.contains(session.userId()))
                    .filter(session -> DaemonAddresses.isAddress(session.address(), address))
                    .forEach(session ->
                            found.add("client." + session.userId() + " (a controller at " + session.host() + ")"));
        }
        try {
            if (NetworkInterface.getByInetAddress(address) != null) {
                found.add("this host");
            }
        } catch (SocketException unknown) {
            throw new DriverException.BackendUnavailable("the addresses of this host are not known", unknown);
        }
        return found;
    }

    /// Returns the identities that may be controllers: this command's own, and all that may create volumes.
    private static Set<String> controllers(CephConnection connection) {
        Set<String> found = connection
                .call(CephCommand.read(Daemon.MON, "auth ls"))
                .json()
                .getAsJsonObject()
                .getAsJsonArray("auth_dump")
                .asList()
                .stream()
                .map(JsonElement::getAsJsonObject)
                .filter(CephClientSessions::makesVolumes)
                .map(identity -> identity.get("entity").getAsString().replaceFirst("^client\\.", ""))
                .collect(Collectors.toCollection(TreeSet::new));
        found.add(connection.access().user());
        return found;
    }

    private static boolean makesVolumes(JsonObject identity) {
        return Optional.ofNullable(identity.getAsJsonObject("caps").get("mgr"))
                .map(JsonElement::getAsString)
                .filter(caps -> MAKES_VOLUMES.matcher(caps).find())
                .filter(_ -> identity.get("entity").getAsString().startsWith("client."))
                .isPresent();
    }

    private static List<String> fileSystems(CephConnection connection) {
        return connection.call(CephCommand.read(Daemon.MON, "fs ls")).json().getAsJsonArray().asList().stream()
                .map(each -> each.getAsJsonObject().get("name").getAsString())
                .toList();
    }
}
