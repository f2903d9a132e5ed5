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

/// Who this controller is to the MDS daemons. It is the same after a restart, and of all that may lead in
/// turn, so that a controller which was killed has its sessions ended by the one that follows, not by a
/// timeout of a minute: until then nobody can take what they hold, and what is made and removed in their
/// directories waits.
///
/// @param name of the controller; no two that run at once may have the same
public record ClientIdentity(String name) {
    private static final String HMAC = "HmacSHA256";

    /// As in ceph-authtool(8).
    private static final Pattern KEY = Pattern.compile("\\s*key\\s*=\\s*\"?([^\\s\"]+)\"?\\s*");

    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

    /// The controller of `driver` that serves on `socket` of this host.
    public static ClientIdentity of(String driver, Path socket) {
        try {
            return new ClientIdentity(
                    String.join(" ", driver, Files.readString(HOST_NAME).strip(), socket.toString()));
        } catch (IOException e) {
            throw new UncheckedIOException("the host's name cannot be read", e);
        }
    }

    /// Whoever leads `driver` by a Lease.
    ///
    /// @param lease what tells it from all other Leases, also from those of other clusters of Kubernetes
    public static ClientIdentity ofLease(String driver, String lease) {
        return new ClientIdentity(String.join(" ", driver, "lease", lease));
    }

    /// The `uuid` of a session (`ceph_set_uuid`), any text. Whoever knows it can have the MDS end that session
    /// (`ceph_start_reclaim`), with whatever key: so it is told by the controller's own key, the same after a
    /// restart.
    ///
    /// @param use which of this controller's clients it is; one at a time
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the keyring has no such key
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
