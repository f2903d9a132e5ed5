package dev.siphon.controller.ceph.fs;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephCommand.Daemon;
import dev.siphon.controller.ceph.rados.CephConnection;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/// Finds the addresses of a cluster's own daemons in the mons' maps (`mon allow r` permits that).
final class DaemonAddresses {
    private final CephConnection connection;

    DaemonAddresses(CephConnection connection) {
        this.connection = connection;
    }

    /// Returns the daemons at an address, such as `mon.a` or `osd.0`. No map lists the address of a standby mgr.
    Set<String> at(InetAddress address) {
        Set<String> found = new TreeSet<>();
        ask("mon dump")
                .getAsJsonArray("mons")
                .forEach(mon -> note(found, address, "mon." + text(mon, "name"), mon.getAsJsonObject()));
        JsonObject mgrs = ask("mgr dump");
        note(found, address, "mgr." + text(mgrs, "active_name"), mgrs);
        ask("osd dump")
                .getAsJsonArray("osds")
                .forEach(osd -> note(found, address, "osd." + text(osd, "osd"), osd.getAsJsonObject()));
        JsonObject mds = ask("fs dump");
        mds.getAsJsonArray("standbys").forEach(each -> noteMds(found, address, each));
        for (JsonElement each : mds.getAsJsonArray("filesystems")) {
            each.getAsJsonObject()
                    .getAsJsonObject("mdsmap")
                    .getAsJsonObject("info")
                    .asMap()
                    .values()
                    .forEach(daemon -> noteMds(found, address, daemon));
        }
        return found;
    }

    private JsonObject ask(String command) {
        return connection.call(CephCommand.read(Daemon.MON, command)).json().getAsJsonObject();
    }

    private static String text(JsonElement of, String key) {
        return of.getAsJsonObject().get(key).getAsString();
    }

    private static void noteMds(Set<String> found, InetAddress address, JsonElement mds) {
        note(found, address, "mds." + text(mds, "name"), mds.getAsJsonObject());
    }

    private static void note(Set<String> found, InetAddress address, String name, JsonObject daemon) {
        for (String key : List.of("public_addrs", "cluster_addrs", "active_addrs", "addrs")) {
            if (daemon.get(key) instanceof JsonObject addresses && has(addresses, address)) {
                found.add(name);
            }
        }
    }

    private static boolean has(JsonObject addresses, InetAddress address) {
        JsonArray all = addresses.getAsJsonArray("addrvec");
        return all.asList().stream()
                .map(each -> CephSessions.ip(text(each, "addr")))
                .anyMatch(text -> isAddress(text, address));
    }

    /// Returns whether Ceph's text is that address, in any notation.
    static boolean isAddress(String text, InetAddress address) {
        try {
            return InetAddress.ofLiteral(text).equals(address);
        } catch (IllegalArgumentException _) {
            return false;
        }
    }
}
