package dev.siphon.controller.admin;

import dev.siphon.csi.QuotedText;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/// How a login host mounts a home: its data directory itself, so that one line does and `df` shows the home's size.
/// The account's allowance is not enforced by such a client, and needs not be: the home's own quota is, and is
/// counted against the allowance as a whole.
///
/// @param monitors as `mon_host` would name them
/// @param fileSystem the Ceph file system
/// @param path the home's data directory in it
/// @param userId the cephx identity, without `client.`
/// @param keyring where the host has its keyring; the bare key is beside it, see [Keyring]
/// @param at where the home is to be
record LoginMount(List<String> monitors, String fileSystem, String path, String userId, Path keyring, Path at) {
    private static final String PORT_1 = ":6789";
    private static final String PORT_2 = ":3300";

    LoginMount {
        monitors = List.copyOf(monitors);
    }

    /// A command for ceph-fuse.
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

    /// A command for the kernel's client; it needs mount.ceph.
    String kernel() {
        return "mount -t ceph " + shell(device()) + " " + shell(at.toString()) + " -o " + shell(options());
    }

    /// A line of fstab(5) for the kernel's client.
    String fstab() {
        return String.join(" ", device(), at.toString(), "ceph", options() + ",_netdev", "0", "0");
    }

    /// A line of an indirect autofs(5) map for the folder above [#at]. The colon in front says that the rest is no
    /// `HOST:PATH` of NFS.
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

    /// The address that the kernel's client takes, with its port: left out, the kernel would take that of the
    /// messenger's version 1, and wait there for ever for an answer in version 2. Of
    /// `[v2:10.0.0.1:3300,v1:10.0.0.1:6789]` it is the first.
    private static String address(String monitor) {
        List<String> addresses = new ArrayList<>(
                List.of(monitor.replaceAll("^\\[(v[12]:.*)]$", "$1").split(",", -1)));
        addresses.sort((left, right) -> Boolean.compare(right.startsWith("v2:"), left.startsWith("v2:")));
        String first = addresses.getFirst();
        String address = first.replaceFirst("^v[12]:", "");
        String port = first.startsWith("v1:") ? PORT_1 : PORT_2;
        return address.matches("[^:]+|\\[[^]]*]") ? address + port : address;
    }

    /// A word of a command line.
    private static String shell(String word) {
        if (word.codePoints().anyMatch(Character::isISOControl)) {
            throw new IllegalArgumentException("a control character in " + QuotedText.of(word));
        }
        return word.matches("[A-Za-z0-9_@%+=:,./-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
    }
}
