package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.csi.DriverException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/// Identifies this controller to the MDS daemons. The name is the same after a restart, and for all replicas that
/// may lead. So a controller ends the sessions of a killed predecessor, instead of a timeout of one minute. Until
/// they end, nobody can take what they hold, and creating and removing in their directories waits.
///
/// @param name of the controller; unique among those that run at once
public record ClientIdentity(String name) {
    private static final String HMAC = "HmacSHA256";

    /// See ceph-authtool(8).
    private static final Pattern KEY = Pattern.compile("\\s*key\\s*=\\s*\"?([^\\s\"]+)\"?\\s*");

    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

    /// Returns the identity of the controller of `driver` that serves on `socket` of this host.
    public static ClientIdentity of(String driver, Path socket) {
        try {
            return new ClientIdentity(
                    String.join(" ", driver, Files.readString(HOST_NAME).strip(), socket.toString()));
        } catch (IOException e) {
            throw new UncheckedIOException("the host's name cannot be read", e);
        }
    }

    /// Returns the identity of the controller that leads `driver` by a Lease.
    ///
    /// @param lease distinguishes the Lease from all others, also from those of other Kubernetes clusters
    public static ClientIdentity ofLease(String driver, String lease) {
        return new ClientIdentity(String.join(" ", driver, "lease", lease));
    }

    /// Returns the `uuid` of a session (`ceph_set_uuid`), which may be any text. Anyone with the `uuid` and any
    /// key can make the MDS end that session (`ceph_start_reclaim`). It is therefore derived from the
    /// controller's own key, which makes it the same after a restart.
    ///
    /// @param use which of this controller's clients; each exists once at a time
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the keyring cannot be read or lacks that key
    String session(ClusterAccess access, String use) {
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(new SecretKeySpec(key(access).getBytes(StandardCharsets.UTF_8), HMAC));
            byte[] text = String.join("\n", name, access.cluster(), use).getBytes(StandardCharsets.UTF_8);
            return HexFormat.of().formatHex(mac.doFinal(text));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("every Java has " + HMAC, impossible);
        }
    }

    private static String key(ClusterAccess access) {
        try {
            String section = "";
            for (String line : Files.readAllLines(access.keyringFile())) {
                Matcher key = KEY.matcher(line);
                if (line.strip().startsWith("[")) {
                    section = line.strip();
                } else if (section.equals("[client." + access.user() + "]") && key.matches()) {
                    return key.group(1);
                }
            }
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable(
                    "the keyring of cluster " + access.cluster() + " cannot be read: " + e);
        }
        throw new DriverException.BackendUnavailable(access.keyringFile() + " has no key of client." + access.user());
    }
}
