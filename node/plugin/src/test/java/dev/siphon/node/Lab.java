package dev.siphon.node;

import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.Programs;
import dev.siphon.node.mount.CephCredentials;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/// The Ceph cluster of the lab that runs the test (e2e/lab), and volumes created in it.
public final class Lab {
    /// The first six-digit number in base 36.
    private static final long NAMES = 60_466_176;

    private Lab() {}

    /// A volume of the lab, with what a CO passes to the node.
    ///
    /// @param path its data directory in the file system
    public record Volume(VolumeId id, String path, Map<String, String> context, Map<String, String> secrets) {
        public Volume {
            context = Map.copyOf(context);
            secrets = Map.copyOf(secrets);
        }

        public CephCredentials credentials() {
            return CephCredentials.fromSecrets(secrets);
        }

        /// Returns this volume with more or changed keys in its context.
        public Volume with(Map<String, String> more) {
            Map<String, String> changed = new HashMap<>(context);
            changed.putAll(more);
            return new Volume(id, path, changed, secrets);
        }
    }

    public static String fileSystem() {
        return environment("FS_NAME");
    }

    public static String monitors() {
        String address = environment("LAB_ADDRESS");
        return "[v2:" + address + ":3300/0,v1:" + address + ":6789/0]";
    }

    /// Returns the mounter to test: `kernel` in a guest of the lab (e2e/lab guest), else `fuse`.
    public static String mounter() {
        return Optional.ofNullable(System.getenv("LAB_MOUNTER")).orElse("fuse");
    }

    public static String ceph(String... arguments) {
        String[] command = new String[arguments.length + 1];
        command[0] = "ceph";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        return Programs.run(command);
    }

    /// Returns a name that no other test uses. It is short because the id of a dataset's volume contains a path.
    public static String uniqueName(String prefix) {
        return prefix + Long.toString(ThreadLocalRandom.current().nextLong(NAMES, NAMES * 36), 36);
    }

    /// Creates an account with an allowance.
    public static String createGroup(long bytes) {
        String group = uniqueName("g");
        ceph("fs", "subvolumegroup", "create", fileSystem(), group, "--size", Long.toString(bytes));
        return group;
    }

    /// Creates a volume of `group`, owned by root and open to all, with the credentials that the lab gives to
    /// nodes.
    public static Volume createVolume(String group, long bytes) {
        return createVolume(group, uniqueName("v"), bytes, "--mode", "777");
    }

    /// Creates the only volume of `group`, as [#createVolume(String, long)] does.
    static Volume createOnlyVolume(String group, long bytes) {
        return createVolume(group, "v", bytes, "--mode", "777");
    }

    /// Creates a volume as [#createVolume(String, long)] does, but with an owner.
    public static Volume createVolume(String group, long bytes, int uid, int gid) {
        return createVolume(
                group,
                uniqueName("v"),
                bytes,
                "--mode",
                "700",
                "--uid",
                Integer.toString(uid),
                "--gid",
                Integer.toString(gid));
    }

    private static Volume createVolume(String group, String name, long bytes, String... more) {
        List<String> command = new ArrayList<>(List.of(
                "fs",
                "subvolume",
                "create",
                fileSystem(),
                name,
                "--group_name",
                group,
                "--size",
                Long.toString(bytes),
                "--namespace-isolated"));
        command.addAll(List.of(more));
        ceph(command.toArray(String[]::new));
        String path = ceph("fs", "subvolume", "getpath", fileSystem(), name, "--group_name", group);
        return new Volume(
                new VolumeId.Provisioned("lab", fileSystem(), group, name),
                path,
                Map.of(
                        "monitors",
                        monitors(),
                        "fsName",
                        fileSystem(),
                        "mountPath",
                        "/volumes/" + group,
                        "dataPath",
                        name,
                        "mounter",
                        mounter()),
                nodeSecrets());
    }

    /// Returns the same volume with an identity of its own, which may only read the account's directory and write
    /// the data directory.
    public static Volume narrow(Volume volume) {
        VolumeId.Provisioned id = (VolumeId.Provisioned) volume.id();
        String group = "/volumes/" + id.group();
        String user = "t-" + id.subvolume();
        String fs = fileSystem();
        String key = keyOf(ceph(
                "auth",
                "get-or-create",
                "client." + user,
                "mon",
                "allow r fsname=" + fs,
                "mds",
                "allow r fsname=" + fs + " path=" + group + ", allow rw fsname=" + fs + " path=" + volume.path(),
                "osd",
                "allow rw tag cephfs data=" + fs));
        return new Volume(volume.id(), volume.path(), volume.context(), Map.of("userID", user, "userKey", key));
    }

    /// Returns secrets with the identity that the lab gives to nodes.
    public static Map<String, String> nodeSecrets() {
        try {
            Path keyring = Path.of(environment("LAB_RUN"), "ceph", "node.keyring");
            return Map.of("userID", "siphon-node", "userKey", keyOf(Files.readString(keyring)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String keyOf(String keyring) {
        return keyring.lines()
                .map(String::strip)
                .filter(line -> line.startsWith("key = "))
                .map(line -> line.substring("key = ".length()))
                .findFirst()
                .orElseThrow();
    }

    /// Evicts the MDS sessions of `volume`'s clients. Otherwise the MDS waits 60 s for a client that died. The
    /// kernel client reports only which group it has mounted.
    public static void evict(VolumeId volume) {
        String filter = mounter().equals("kernel") && volume instanceof VolumeId.Provisioned own
                ? "client_metadata.root=/volumes/" + own.group()
                : "client_metadata.volume_id=" + volume;
        ceph("tell", "mds." + fileSystem() + ":0", "client", "evict", filter);
    }

    /// Returns the ceph-fuse processes that serve `volume`.
    public static List<ProcessHandle> clientsOf(VolumeId volume) {
        String wanted = "volume_id=" + volume;
        return ProcessHandle.allProcesses()
                .filter(process -> process.info()
                        .arguments()
                        .filter(arguments -> List.of(arguments).stream().anyMatch(a -> a.endsWith(wanted)))
                        .isPresent())
                .toList();
    }

    private static String environment(String name) {
        return Objects.requireNonNull(System.getenv(name), name + ": the test runs in the lab only (e2e/lab up)");
    }
}
