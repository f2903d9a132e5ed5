package dev.siphon.controller.ceph;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephCommand.Daemon;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.controller.ceph.rados.CommandReply;
import dev.siphon.controller.key.CephCiphers;
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

/// Reads a cluster's status for administrators, with commands that change nothing. Each method throws like
/// [CephConnection#call(CephCommand)] and returns within `limit`.
public final class ClusterStatus {
    /// `ceph version 20.2.4 (HASH) tentacle (stable)`, `src/common/version.cc`.
    private static final Pattern VERSION = Pattern.compile("ceph version ([0-9]+(?:\\.[0-9]+)*)");

    /// The entry of the reply to `versions` that sums up all types of daemons.
    private static final String OVERALL = "overall";

    private static final String ACTIVE = "up:active";

    private static final String CLIENT = "client.";

    /// The only key type of clusters before Ceph 19.2.6 and 20.2.4.
    private static final String ONLY_CIPHER = "aes";

    private final Function<String, CephConnection> connections;

    ClusterStatus(Function<String, CephConnection> connections) {
        this.connections = connections;
    }

    /// A file system.
    ///
    /// @param active names of the MDS daemons that are active for it now
    public record FileSystem(String name, List<String> active) {
        public FileSystem {
            active = List.copyOf(active);
        }
    }

    /// Returns the cluster's monitors, user and keyring file.
    public ClusterAccess access(String cluster) {
        return connections.apply(cluster).access();
    }

    /// Returns the running versions by daemon type: `mon`, `mgr`, `osd`, `mds` and so on.
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

    /// Returns the file systems with their active MDS daemons.
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

    /// Makes the mgr's module `volumes` read a directory of a file system.
    ///
    /// @return always true; any failure throws
    public boolean volumes(String cluster, String fileSystem, Duration limit) {
        CephCommand command =
                CephCommand.read(Daemon.MGR, "fs subvolumegroup exist").with("vol_name", fileSystem);
        var _ = connections.apply(cluster).call(command, limit).orThrow();
        return true;
    }

    /// Returns the caps of the controller's own identity by service; empty if it may not read them.
    public Optional<Map<String, String>> ownCaps(String cluster, Duration limit) {
        CephCommand command = CephIdentities.get(access(cluster).user());
        try {
            return Optional.of(CephIdentities.caps(
                    ask(cluster, command, limit).getAsJsonArray().get(0).getAsJsonObject()));
        } catch (DriverException.AccessDenied _) {
            return Optional.empty();
        }
    }

    /// Returns the default and allowed types of keys: two commands.
    public CephCiphers ciphers(String cluster, Duration limit) {
        CephCommand options = CephCommand.read(Daemon.MON, "config get").with("who", "mon");
        return ciphers(
                ask(cluster, CephCommand.read(Daemon.MON, "mon dump"), limit).getAsJsonObject(),
                ask(cluster, options, limit).getAsJsonObject());
    }

    /// While `mon_auth_allow_insecure_key` is not set, the mons follow the allowed types
    /// (`AuthMonitor::check_health`). `config get` with the option's name then prints false, so this reads the
    /// list without a name: it has only what is set (`ConfigMonitor::preprocess_command`).
    ///
    /// @param options of the mons, as far as they are set
    static CephCiphers ciphers(JsonObject dump, JsonObject options) {
        Set<String> allowed = new TreeSet<>();
        Optional.ofNullable(dump.getAsJsonArray("auth_allowed_ciphers"))
                .ifPresentOrElse(list -> list.forEach(each -> allowed.add(name(each))), () -> allowed.add(ONLY_CIPHER));
        String preferred = Optional.ofNullable(dump.get("auth_preferred_cipher"))
                .map(ClusterStatus::name)
                .orElse(ONLY_CIPHER);
        boolean refusesNew = Optional.ofNullable(options.getAsJsonObject("mon_auth_allow_insecure_key"))
                .filter(option -> option.get("value").getAsString().equals("false"))
                .isPresent();
        return new CephCiphers(preferred, allowed, allowed.contains(ONLY_CIPHER) && !refusesNew);
    }

    /// Returns the addresses, without ports, of the cluster's current monitors.
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

    /// Returns the names of clients that start with `prefix`, without `client.`; ignores their keys.
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

    /// Returns whether a file system has a subvolumegroup of that name.
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

    /// Returns after how many seconds an MDS evicts a client that does not release a capability; 0 for never.
    /// Reads the mons' configuration: they do not know what a daemon's own file sets.
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
