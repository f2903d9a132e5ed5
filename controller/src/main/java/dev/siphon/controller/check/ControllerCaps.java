package dev.siphon.controller.check;

import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// The least that the controller's identity must be allowed, by what the controller is to do. The lab's
/// controller runs with exactly this.
///
/// @param fileSystems that volumes are made in; each name has the form of [VolumeId.Part#FILE_SYSTEM]
/// @param uses what it does beyond volumes and snapshots
public record ControllerCaps(List<String> fileSystems, List<Feature> uses) {
    /// Where volumes are, and where declared datasets may be, whose directories it makes if snapshots are sealed.
    private static final String ITS_DIRECTORIES =
            "allow rwp fsname=%1$s path=/volumes, allow rwp fsname=%1$s path=/datasets";

    /// What a controller may do besides.
    public enum Feature {
        /// It mints keys (`--key-dir`).
        KEYS,
        /// It ends sessions of nodes (`--attach`).
        ATTACH,
        /// Its identity serves `siphon key rotate` and `siphon key revoke` as well.
        KEY_COMMANDS
    }

    /// @throws dev.siphon.csi.DriverException.InvalidRequest if a file system's name has another form, so that it
    ///     could end a cap
    public ControllerCaps {
        fileSystems = List.copyOf(fileSystems);
        uses = List.copyOf(uses);
        fileSystems.forEach(VolumeId.Part.FILE_SYSTEM::check);
    }

    /// What each service is to allow, as `ceph auth` takes it.
    SortedMap<String, String> byService() {
        SortedMap<String, String> caps = new TreeMap<>();
        caps.put("mgr", "allow module volumes rw");
        caps.put("osd", forEach("allow rw tag cephfs data=%s"));
        caps.put("mds", forEach(endsSessions() ? "allow * fsname=%s" : ITS_DIRECTORIES));
        caps.put("mon", mon());
        return caps;
    }

    /// What of that an identity lacks; empty if it has it all, or more.
    ///
    /// @param has what each service allows it, as `ceph auth get` says
    List<String> missing(Map<String, String> has) {
        List<String> missing = new ArrayList<>();
        byService().forEach((service, caps) -> {
            List<Cap> given = Cap.parse(has.getOrDefault(service, ""));
            Cap.parse(caps).stream()
                    .filter(needed -> given.stream().noneMatch(cap -> cap.covers(needed)))
                    .forEach(needed -> missing.add(service + " '" + needed.text() + "'"));
        });
        return missing;
    }

    /// An MDS lets nobody see or end sessions but who may do all in its file system (`src/mds/MDSDaemon.cc`).
    private boolean endsSessions() {
        return uses.contains(Feature.ATTACH) || uses.contains(Feature.KEY_COMMANDS);
    }

    private String mon() {
        List<String> caps = new ArrayList<>(List.of("allow r"));
        if (uses.contains(Feature.KEYS) || uses.contains(Feature.KEY_COMMANDS)) {
            for (String command : List.of("get-or-create", "get", "rm", "ls")) {
                caps.add("allow command \"auth " + command + "\"");
            }
        }
        if (uses.contains(Feature.KEY_COMMANDS)) {
            caps.add("allow command \"osd blocklist\" with blocklistop=add");
        }
        return String.join(", ", caps);
    }

    private String forEach(String cap) {
        return fileSystems.stream()
                .map(name -> String.format(Locale.ROOT, cap, name))
                .collect(Collectors.joining(", "));
    }

    /// A shell command that makes an identity with these caps and writes its key to a file, or gives them to one
    /// that exists.
    ///
    /// @param user without `client.`, of the form of the clusters file
    /// @param words what comes before the entity, and what comes last
    public String command(String user, Words words) {
        StringBuilder text = new StringBuilder(words.first()).append(" client.").append(user);
        byService()
                .forEach((service, cap) ->
                        text.append(" \\\n  ").append(service).append(' ').append(quoted(cap)));
        words.last().forEach(word -> text.append(" \\\n  ").append(word));
        return text.toString();
    }

    /// The words around entity and caps.
    public record Words(String first, List<String> last) {
        /// To make an identity, or find it; EINVAL if it exists with other caps.
        public static Words make(String keyringFile) {
            return new Words("ceph auth get-or-create", List.of("-o " + quoted(keyringFile)));
        }

        /// To give other caps to an identity that exists. Ceph 20 prints the key with them, which is nobody's
        /// to see.
        public static Words change() {
            return new Words("ceph auth caps", List.of(">/dev/null"));
        }
    }

    private static String quoted(String text) {
        return text.matches("[A-Za-z0-9/._-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
    }
}
