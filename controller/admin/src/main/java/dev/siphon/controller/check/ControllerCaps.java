package dev.siphon.controller.check;

import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// The least caps that the controller's identity needs, by the features it uses. The lab's controller has exactly
/// these.
///
/// @param fileSystems for volumes; each name has the form of [VolumeId.Part#FILE_SYSTEM]
/// @param uses the features beyond volumes and snapshots
public record ControllerCaps(List<String> fileSystems, List<Feature> uses) {
    /// The directories of volumes and of declared datasets; sealing a snapshot creates directories in the latter.
    private static final String ITS_DIRECTORIES =
            "allow rwp fsname=%1$s path=/volumes, allow rwp fsname=%1$s path=/datasets";

    /// An optional feature.
    public enum Feature {
        /// It mints keys (`--key-dir`).
        KEYS,
        /// It evicts sessions of nodes (`--attach`).
        ATTACH,
        /// Its identity also serves `siphon key rotate` and `siphon key revoke`.
        KEY_COMMANDS
    }

    /// @throws dev.siphon.csi.DriverException.InvalidRequest (INVALID_ARGUMENT) if a file system's name has another
    ///     form: it could inject a cap
    public ControllerCaps {
        fileSystems = List.copyOf(fileSystems);
        uses = List.copyOf(uses);
        fileSystems.forEach(VolumeId.Part.FILE_SYSTEM::check);
    }

    /// Returns the caps by service, in the syntax of `ceph auth`.
    SortedMap<String, String> byService() {
        SortedMap<String, String> caps = new TreeMap<>();
        caps.put("mgr", "allow module volumes rw");
        caps.put("osd", forEach("allow rw tag cephfs data=%s"));
        caps.put("mds", forEach(endsSessions() ? "allow * fsname=%s" : ITS_DIRECTORIES));
        caps.put("mon", mon());
        return caps;
    }

    /// Returns the caps that an identity lacks; empty if it lacks none.
    ///
    /// @param has its caps by service, as `ceph auth get` prints them
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

    /// An MDS lists and evicts sessions only for an identity with all rights in its file system
    /// (`src/mds/MDSDaemon.cc`).
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

    /// Returns a shell command that creates an identity with these caps and writes its key to a file. With
    /// [Words#change] it gives these caps to an existing identity.
    ///
    /// @param user without `client.`, in the form of the clusters file
    /// @param words what comes before the entity, and what comes last
    public String command(String user, Words words) {
        StringBuilder text = new StringBuilder(words.first()).append(" client.").append(user);
        byService()
                .forEach((service, cap) ->
                        text.append(" \\\n  ").append(service).append(' ').append(quoted(cap)));
        words.last().forEach(word -> text.append(" \\\n  ").append(word));
        return text.toString();
    }

    /// The words around the entity and its caps.
    public record Words(String first, List<String> last) {
        /// Returns the words to create or find an identity; the command fails with EINVAL if it has other caps.
        public static Words make(String keyringFile) {
            return new Words("ceph auth get-or-create", List.of("-o " + quoted(keyringFile)));
        }

        /// Returns the words to change the caps of an existing identity. Discards the output, because Ceph 20
        /// prints the key too.
        public static Words change() {
            return new Words("ceph auth caps", List.of(">/dev/null"));
        }
    }

    private static String quoted(String text) {
        return text.matches("[A-Za-z0-9/._-]+") ? text : "'" + text.replace("'", "'\\''") + "'";
    }
}
