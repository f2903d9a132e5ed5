package dev.siphon.controller.ceph;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephCommand.Daemon;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.controller.ceph.rados.CommandReply;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Monitors;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// What a cluster tells an administrator about itself, by commands that only read. All of it throws as
/// [CephConnection#call(CephCommand)] does, after `limit` at the latest.
public final class ClusterStatus {
    /// `ceph version 20.2.4 (HASH) tentacle (stable)`, `src/common/version.cc`.
    private static final Pattern VERSION = Pattern.compile("ceph version ([0-9]+(?:\\.[0-9]+)*)");

    /// The sum over all daemons, among the types of daemons in the answer to `versions`.
    private static final String OVERALL = "overall";

    private static final String ACTIVE = "up:active";

    private static final String CLIENT = "client.";

    /// What clusters that know one kind of key alone have (before Ceph 19.2.6 and 20.2.4).
    private static final String ONLY_CIPHER = "aes";

    private final Function<String, CephConnection> connections;
    private final Optional<String> keyType;

    /// @param keyType of the keys of volumes; empty for the cluster's default
    ClusterStatus(Function<String, CephConnection> connections, Optional<String> keyType) {
        this.connections = connections;
        this.keyType = keyType;
    }

    /// A file system.
    ///
    /// @param active the MDS daemons that serve it now
    public record FileSystem(String name, List<String> active) {
        public FileSystem {
            active = List.copyOf(active);
        }
    }

    /// Of which types keys can be.
    ///
    /// @param asked what the controller asks for; empty for the cluster's default
    /// @param preferred the cluster's default
    /// @param allowed the types of keys that can be used
    public record KeyTypes(Optional<String> asked, String preferred, Set<String> allowed) {
        public KeyTypes {
            allowed = Set.copyOf(allowed);
        }
    }

    /// How the cluster is reached.
    public ClusterAccess access(String cluster) {
        return connections.apply(cluster).access();
    }

    /// The versions that run, by type of daemon: `mon`, `mgr`, `osd`, `mds` and so on.
    public SortedMap<String, Set<String>> versions(String cluster, Duration limit) {
        JsonObject answer =
                ask(cluster, CephCommand.read(Daemon.MON, "versions"), limit).getAsJsonObject();
        SortedMap<String, Set<String>> versions = new TreeMap<>();
        for (String daemon : answer.keySet()) {
            if (!daemon.equals(OVERALL)) {
                Set<String> found = new TreeSet<>();
                answer.getAsJsonObject(daemon).keySet().forEach(text -> found.add(version(text)));
                versions.put(daemon, found);
            }
        }
        return versions;
    }

    private static String version(String text) {
        Matcher matcher = VERSION.matcher(text);
        return matcher.lookingAt() ? matcher.group(1) : text;
    }

    /// The file systems.
    public List<FileSystem> fileSystems(String cluster, Duration limit) {
        JsonObject dump =
                ask(cluster, CephCommand.read(Daemon.MON, "fs dump"), limit).getAsJsonObject();
        List<FileSystem> found = new ArrayList<>();
        for (JsonElement each : dump.getAsJsonArray("filesystems")) {
            JsonObject map = each.getAsJsonObject().getAsJsonObject("mdsmap");
            List<String> active = map.getAsJsonObject("info").asMap().values().stream()
                    .map(JsonElement::getAsJsonObject)
                    .filter(mds -> mds.get("state").getAsString().equals(ACTIVE))
                    .map(mds -> mds.get("name").getAsString())
                    .sorted()
                    .toList();
            found.add(new FileSystem(map.get("fs_name").getAsString(), active));
        }
        return found;
    }

    /// Has the mgr's module `volumes` read a directory of a file system.
    ///
    /// @return that it has
    public boolean volumes(String cluster, String fileSystem, Duration limit) {
        CephCommand command =
                CephCommand.read(Daemon.MGR, "fs subvolumegroup exist").with("vol_name", fileSystem);
        var _ = connections.apply(cluster).call(command, limit).orThrow();
        return true;
    }

    /// What each service allows the controller's own identity; empty if it may not know that.
    public Optional<Map<String, String>> ownCaps(String cluster, Duration limit) {
        CephCommand command = CephIdentities.get(access(cluster).user());
        try {
            return Optional.of(CephIdentities.caps(
                    ask(cluster, command, limit).getAsJsonArray().get(0).getAsJsonObject()));
        } catch (DriverException.AccessDenied _) {
            return Optional.empty();
        }
    }

    /// Of which types the keys of volumes can be.
    public KeyTypes keyTypes(String cluster, Duration limit) {
        JsonObject dump =
                ask(cluster, CephCommand.read(Daemon.MON, "mon dump"), limit).getAsJsonObject();
        Set<String> allowed = new TreeSet<>();
        Optional.ofNullable(dump.getAsJsonArray("auth_allowed_ciphers"))
                .ifPresentOrElse(list -> list.forEach(each -> allowed.add(name(each))), () -> allowed.add(ONLY_CIPHER));
        String preferred = Optional.ofNullable(dump.get("auth_preferred_cipher"))
                .map(ClusterStatus::name)
                .orElse(ONLY_CIPHER);
        return new KeyTypes(keyType, preferred, allowed);
    }

    /// The addresses, without ports, of the monitors that the cluster has now.
    public SortedSet<String> monitorHosts(String cluster, Duration limit) {
        JsonObject dump =
                ask(cluster, CephCommand.read(Daemon.MON, "mon dump"), limit).getAsJsonObject();
        SortedSet<String> hosts = new TreeSet<>();
        for (JsonElement mon : dump.getAsJsonArray("mons")) {
            mon.getAsJsonObject()
                    .getAsJsonObject("public_addrs")
                    .getAsJsonArray("addrvec")
                    .forEach(each -> hosts.addAll(
                            Monitors.parse(each.getAsJsonObject().get("addr").getAsString())
                                    .hosts()));
        }
        return hosts;
    }

    /// The names of clients that begin so, without `client.`; keys are left where they are.
    public SortedSet<String> clients(String cluster, String prefix, Duration limit) {
        SortedSet<String> found = new TreeSet<>();
        CephIdentities.each(connections.apply(cluster).call(CephIdentities.LIST, limit), identity -> {
            String entity = identity.get("entity").getAsString();
            if (entity.startsWith(CLIENT + prefix)) {
                found.add(entity.substring(CLIENT.length()));
            }
        });
        return found;
    }

    /// Whether a file system has a subvolumegroup of that name.
    public boolean hasGroup(String cluster, String fileSystem, String group, Duration limit) {
        CommandReply reply = connections
                .apply(cluster)
                .call(
                        CephCommand.read(Daemon.MGR, "fs subvolumegroup getpath")
                                .with("vol_name", fileSystem)
                                .with("group_name", group),
                        limit);
        return !reply.is(CephErrno.ENOENT) && reply.orThrow().returnCode() == 0;
    }

    /// After how many seconds an MDS ends the session of a client that gives no capability back; 0 for never. As
    /// the mons' configuration has it: what a daemon's own file says they do not know.
    public double capRevokeEvictionSeconds(String cluster, Duration limit) {
        CephCommand command = CephCommand.read(Daemon.MON, "config get")
                .with("who", "mds")
                .with("key", "mds_cap_revoke_eviction_timeout");
        return ask(cluster, command, limit).getAsDouble();
    }

    private static String name(JsonElement cipher) {
        return cipher.getAsJsonObject().get("name").getAsString();
    }

    private JsonElement ask(String cluster, CephCommand command, Duration limit) {
        return connections.apply(cluster).call(command, limit).json();
    }
}
