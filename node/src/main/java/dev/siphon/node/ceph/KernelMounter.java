package dev.siphon.node.ceph;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Monitors;
import dev.siphon.csi.Monitors.Monitor;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.KernelLog;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountSyscalls;
import dev.siphon.node.mount.CephKey;
import dev.siphon.node.mount.ClientMount;
import dev.siphon.node.mount.MountedVolume;
import dev.siphon.node.mount.Mounter;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/// Mounts with the kernel's client, by mount(2) itself and not through mount.ceph(8): the helper takes the key as
/// an argument or from a file, has to fit the cluster's release (that of Ceph 18 refuses aes256k keys), and is
/// one more process that can hang. What else it does, finding monitors in ceph.conf and loading the module, is
/// not needed: monitors come with the volume, and the kernel loads the module itself.
///
/// The source is written in the old form, `MON,MON:/PATH`, since the new one wants the cluster's fsid, which the
/// node does not know.
public final class KernelMounter implements Mounter {
    private static final String TYPE = "ceph";
    private static final String MODE = "ms_mode";
    private static final String FILE_SYSTEM = "mds_namespace";

    /// `net/ceph/auth.c`: -EACCES or -EPERM from a monitor.
    private static final Pattern REFUSED = Pattern.compile("libceph: .*auth (?:protocol|method) .* failed: -(?:1|13)$");

    @Override
    public String name() {
        return "kernel";
    }

    @Override
    public void mount(ClientMount mount, Path mountPoint, Duration limit) {
        boolean v2 = usesV2(mount);
        String source = addresses(mount.monitors(), v2) + ":" + mount.path();
        List<String> options = new ArrayList<>(List.of(
                "name=" + mount.credentials().userId(),
                "secret=" + mount.credentials().key().reveal(),
                FILE_SYSTEM + "=" + mount.fileSystem(),
                // a volume of its own must not hang with another's client, nor come back from a dead
                // one
                "noshare",
                "mount_timeout=" + Math.max(1, limit.toSeconds())));
        options.addAll(mount.options().client());
        if (v2 && mount.options().client().stream().noneMatch(option -> option.startsWith(MODE + "="))) {
            options.add(MODE + "=prefer-crc"); // the kernel would speak v1 without it
        }
        try (KernelLog log = KernelLog.fromNow()) {
            try {
                MountSyscalls.mount(
                        source,
                        mountPoint.toString(),
                        TYPE,
                        mount.options().flags(),
                        mount.options().synchronous(),
                        String.join(",", options));
            } catch (ErrnoException e) {
                throw explain(mount, source, e, log.said());
            }
        }
    }

    /// v2 if every monitor has it, unless the options ask for v1.
    private static boolean usesV2(ClientMount mount) {
        return !mount.options().client().contains(MODE + "=legacy")
                && mount.monitors().entries().stream()
                        .allMatch(monitor -> monitor.v2().isPresent());
    }

    /// Addresses of one protocol: the kernel takes the port for the monitor's of the mode that was asked for.
    private static String addresses(Monitors monitors, boolean v2) {
        List<String> addresses = new ArrayList<>();
        for (Monitor monitor : monitors.entries()) {
            (v2 ? monitor.v2() : monitor.v1()).ifPresent(endpoint -> addresses.add(numeric(endpoint)));
        }
        if (addresses.isEmpty()) {
            throw new DriverException.InvalidRequest("volume_context monitors " + monitors
                    + " name no v1 address, which the mount option ms_mode=legacy asks for");
        }
        return String.join(",", addresses);
    }

    /// The kernel resolves names only where a helper is installed for it.
    private static String numeric(Monitors.Endpoint endpoint) {
        try {
            return new Monitors.Endpoint(InetAddress.getByName(endpoint.host()).getHostAddress(), endpoint.port())
                    .toString();
        } catch (UnknownHostException e) {
            throw new DriverException.BackendUnavailable(
                    "the monitor " + endpoint.host() + " has no address that this node can find", e);
        }
    }

    /// A client that has not yet heard of an MDS says EHOSTUNREACH whatever went wrong (`ceph_get_tree` in
    /// `fs/ceph/super.c`). That the monitor refused the key is then only in the kernel's log, without saying
    /// whose key: where two mounts fail in the same moment for two reasons, both are told this one, and the next
    /// try tells better. A file system that does not exist is not in the log either.
    private static DriverException explain(ClientMount mount, String source, ErrnoException e, List<String> log) {
        String message = "mounting " + source + " of file system " + mount.fileSystem() + " for volume "
                + mount.volume() + " as client." + mount.credentials().userId() + " failed: " + e.getMessage();
        return switch (e.errno()) {
            case EACCES, EPERM, EKEYREJECTED, ENOKEY, EKEYEXPIRED -> new DriverException.AccessDenied(message);
            case ENOENT -> new DriverException.NotFound(message);
            case EHOSTUNREACH ->
                log.stream().anyMatch(line -> REFUSED.matcher(line).find())
                        ? new DriverException.AccessDenied(message + "; the monitor refused the key")
                        : new DriverException.BackendUnavailable(
                                message + "; no MDS of that file system is active, or there is no such file system", e);
            case EINVAL ->
                new DriverException.InvalidRequest(message + "; this kernel does not take one of the mount options "
                        + mount.options().client() + ": "
                        + words(log, mount.credentials().key()));
            default -> new DriverException.BackendUnavailable(message, e);
        };
    }

    /// What the client said, as far as it can be shown.
    private static String words(List<String> log, CephKey key) {
        return String.join(
                "; ",
                log.stream()
                        .filter(line -> line.startsWith("ceph: ") || line.startsWith("libceph: "))
                        .filter(line -> !line.contains(key.reveal()))
                        .toList());
    }

    @Override
    public Optional<MountedVolume> recognize(MountEntry entry) {
        int colon = entry.source().indexOf(":/");
        if (!entry.type().equals(TYPE) || colon < 0) {
            return Optional.empty();
        }
        String prefix = FILE_SYSTEM + "=";
        String fileSystem = entry.superOptions().stream()
                .filter(option -> option.startsWith(prefix))
                .map(option -> option.substring(prefix.length()))
                .findFirst()
                .orElse("");
        try {
            Monitors monitors = Monitors.parse(entry.source().substring(0, colon));
            String path = entry.source().substring(colon + 1) + (entry.root().equals("/") ? "" : entry.root());
            return Optional.of(new MountedVolume.Located(fileSystem, path, monitors));
        } catch (DriverException.InvalidRequest _) {
            return Optional.empty(); // a mount that somebody else made, in another form
        }
    }

    @Override
    public boolean needsItsRoot() {
        return false;
    }

    /// By force the kernel throws away what it had not yet written: only where it could never write it.
    @Override
    public boolean mayForce(boolean dead) {
        return dead;
    }

    /// The kernel writes before umount2(2) returns.
    @Override
    public void awaitEnd(MountEntry unmounted, Duration limit) {}
}
