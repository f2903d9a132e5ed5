package dev.siphon.controller.admin;

import dev.siphon.csi.QuotedText;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/// How a login host mounts a home: its data directory directly, so that one line suffices and `df` shows the home's
/// size. Such a client does not enforce the account's allowance, and need not: it enforces the home's own quota,
/// which counts in full against the allowance.
///
/// @param monitors as in `mon_host`
/// @param fileSystem the Ceph file system
/// @param path the home's data directory in it
/// @param userId the cephx identity, without `client.`
/// @param keyring where the host has its keyring; the bare key is beside it, see [Keyring]
/// @param at the mount point
record LoginMount(List<String> monitors, String fileSystem, String path, String userId, Path keyring, Path at) {
    private static final String PORT_1 = ":6789";
    private static final String PORT_2 = ":3300";

    LoginMount {
        monitors = List.copyOf(monitors);
    }

    /// Returns a command for ceph-fuse.
    String fuse() {
        return String.join(
                " ",
                "ceph-fuse",
                "-c /dev/null",
                "-m " + shell(String.join(",", monitors)),
                "--id " + shell(userId),
                "-k " + shell(keyring.toString()),
                "--client_fs " + shell(fileSystem),
                "-r " + shell(path),
                shell(at.toString()));
    }

    /// Returns a command for the kernel client; it needs mount.ceph.
    String kernel() {
        return "mount -t ceph " + shell(device()) + " " + shell(at.toString()) + " -o " + shell(options());
    }

    /// Returns a line of fstab(5) for the kernel client.
    String fstab() {
        return String.join(" ", device(), at.toString(), "ceph", options() + ",_netdev", "0", "0");
    }

    /// Returns a line of an indirect autofs(5) map for the parent directory of [#at]. The leading colon marks that
    /// the rest is not an NFS `HOST:PATH`.
    String autofs() {
        return at.getFileName() + " -fstype=ceph," + options() + " :" + device();
    }

    private String device() {
        return monitors.stream().map(LoginMount::address).collect(Collectors.joining(",")) + ":" + path;
    }

    private String options() {
        List<String> options = new ArrayList<>(
                List.of("name=" + userId, "secretfile=" + Keyring.secretFile(keyring), "fs=" + fileSystem));
        if (!address(monitors.getFirst()).endsWith(PORT_1)) {
            options.add("ms_mode=prefer-crc");
        }
        options.addAll(List.of("noatime", "nosuid", "nodev"));
        return String.join(",", options);
    }

    /// Returns the address for the kernel client, with its port. Without a port the kernel would use that of
    /// messenger v1, and wait there forever for a v2 reply. For `[v2:10.0.0.1:3300,v1:10.0.0.1:6789]` it is the
    /// first.
    private static String address(String monitor) {
        List<String> addresses = new ArrayList<>(
                List.of(monitor.replaceAll("^\\[(v[12]:.*)]$", "$1").split(",", -1)));
        addresses.sort((left, right) -> Boolean.compare(right.startsWith("v2:"), left.startsWith("v2:")));
        String first = addresses.getFirst();
        String address = first.replaceFirst("^v[12]:", "");
        String port = first.startsWith("v1:") ? PORT_1 : PORT_2;
        return address.matches("[^:]+|\\[[^]]*]") ? address + port : address;
    }

    /// Quotes a word of a command line.
    private static String shell(String word) {
        if (word.codePoints().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("a control character in " + QuotedText.of(word));
        }
        return word.matches("[A-Za-z0-9_@%+=:,./-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
