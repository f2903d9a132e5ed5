package dev.siphon.node;

import dev.siphon.csi.VolumeId;
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

/// The Ceph of the lab that the test runs in (e2e/lab), and volumes made in it.
public final class Lab {
    /// The first number of six digits to the base of 36.
    private static final long NAMES = 60_466_176;

    private Lab() {}

    /// A volume of the lab, with what a CO would hand to the node.
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

        /// This volume, asked for with other keys of its context.
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

    /// The mounter to test with: `kernel` in a guest of the lab (e2e/lab guest), else `fuse`.
    public static String mounter() {
        return Optional.ofNullable(System.getenv("LAB_MOUNTER")).orElse("fuse");
    }

    public static String ceph(String... arguments) {
        String[] command = new String[arguments.length + 1];
        command[0] = "ceph";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        return Programs.run(command);
    }

    /// A name that no other test uses, short: the id of a dataset's volume has a path in it.
    public static String uniqueName(String prefix) {
        return prefix + Long.toString(ThreadLocalRandom.current().nextLong(NAMES, NAMES * 36), 36);
    }

    /// An account with an allowance.
    public static String createGroup(long bytes) {
        String group = uniqueName("g");
        ceph("fs", "subvolumegroup", "create", fileSystem(), group, "--size", Long.toString(bytes));
        return group;
    }

    /// A volume of `group`, of root and open to all, with the credentials that the lab gives to nodes.
    public static Volume createVolume(String group, long bytes) {
        return createVolume(group, uniqueName("v"), bytes, "--mode", "777");
    }

    /// The only volume of `group`, as [#createVolume(String, long)].
    static Volume createOnlyVolume(String group, long bytes) {
        return createVolume(group, "v", bytes, "--mode", "777");
    }

    /// As [#createVolume(String, long)], of an account alone.
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

    /// The same volume with an identity that reaches nothing else: the account's directory to look at, the data
    /// directory to write.
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

    /// Secrets with the identity that the lab gives to nodes.
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

    /// Ends the MDS sessions of clients of `volume`, as an administrator would who does not want to wait until
    /// the MDS gives up a client that died (60 s). The kernel's client says only which group it has mounted.
    public static void evict(VolumeId volume) {
        String filter = mounter().equals("kernel") && volume instanceof VolumeId.Provisioned own
                ? "client_metadata.root=/volumes/" + own.group()
                : "client_metadata.volume_id=" + volume;
        ceph("tell", "mds." + fileSystem() + ":0", "client", "evict", filter);
    }

    /// The processes of ceph-fuse that serve `volume`.
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
