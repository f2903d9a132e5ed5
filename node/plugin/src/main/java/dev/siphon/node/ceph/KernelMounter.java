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

/// Mounts with the kernel client, through mount(2) instead of mount.ceph(8). The helper takes the key as an
/// argument or from a file, and is one more process that can hang. It must also match the cluster's release: that
/// of Ceph 18 rejects aes256k keys. Its other tasks are not needed: the volume names its monitors, so nobody reads
/// ceph.conf, and the kernel loads its module itself.
///
/// The source has the old form, `MON,MON:/PATH`. The new form needs the cluster's fsid, which the node does not
/// know.
public final class KernelMounter implements Mounter {
    private static final String TYPE = "ceph";
    private static final String MODE = "ms_mode";
    private static final String FILE_SYSTEM = "mds_namespace";

    /// `net/ceph/auth.c`: a monitor returned -EACCES or -EPERM.
    private static final Pattern REFUSED = Pattern.compile("libceph: .*auth (?:protocol|method) .* failed: -(?:1|13)$");

    /// `net/ceph/auth_x.c`: the kernel has no cipher for this kind of key. It then tries other monitors until the
    /// mount ends at its limit.
    private static final Pattern UNUSABLE = Pattern.compile("^libceph: .*cannot prepare key: -[0-9]+$");

    private final UnusableKeys unusable;

    /// @param unusable where to note keys that the kernel cannot use
    public KernelMounter(UnusableKeys unusable) {
        this.unusable = unusable;
    }

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
                // a volume must not hang with another volume's client, nor be mounted from a dead one
                "noshare",
                "mount_timeout=" + Math.max(1, limit.toSeconds())));
        options.addAll(mount.options().client());
        if (v2 && mount.options().client().stream().noneMatch(option -> option.startsWith(MODE + "="))) {
            options.add(MODE + "=prefer-crc"); // the kernel's default is v1
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

    /// Whether to connect by v2: if every monitor has a v2 address, unless the options ask for v1.
    private static boolean usesV2(ClientMount mount) {
        return !mount.options().client().contains(MODE + "=legacy")
                && mount.monitors().entries().stream()
                        .allMatch(monitor -> monitor.v2().isPresent());
    }

    /// Returns addresses of one protocol only: the kernel uses every port with the requested mode.
    private static String addresses(Monitors monitors, boolean v2) {
        List<String> addresses = new ArrayList<>();
        for (Monitor monitor : monitors.entries()) {
            (v2 ? monitor.v2() : monitor.v1()).ifPresent(endpoint -> addresses.add(numeric(endpoint)));
        }
        if (addresses.isEmpty()) {
            throw new DriverException.InvalidRequest("volume_context monitors " + monitors
                    + " have no v1 address, which the mount option ms_mode=legacy needs");
        }
        return String.join(",", addresses);
    }

    /// Resolves a name: the kernel does so only if a helper is installed.
    private static String numeric(Monitors.Endpoint endpoint) {
        try {
            return new Monitors.Endpoint(InetAddress.getByName(endpoint.host()).getHostAddress(), endpoint.port())
                    .toString();
        } catch (UnknownHostException e) {
            throw new DriverException.BackendUnavailable(
                    "the monitor " + endpoint.host() + " cannot be resolved on this node", e);
        }
    }

    /// Explains a failed mount(2). A client that knows no MDS yet fails with EHOSTUNREACH, whatever the cause
    /// (`ceph_get_tree` in `fs/ceph/super.c`). A rejected key then appears only in the kernel's log, which does not
    /// name the key. If two mounts fail at the same moment for two reasons, both report the rejected key; the next
    /// retry corrects that. A missing file system is not in the log either.
    ///
    /// The log alone says that the kernel cannot use the kind of key. If it cannot be read, the mount fails until
    /// its class or node asks for ceph-fuse.
    DriverException explain(ClientMount mount, String source, ErrnoException e, List<String> log) {
        String message = "mounting " + source + " of file system " + mount.fileSystem() + " for volume "
                + mount.volume() + " as client." + mount.credentials().userId() + " failed: " + e.getMessage();
        if (mount.credentials().key().kind() == CephKey.Kind.AES256K
                && log.stream().anyMatch(line -> UNUSABLE.matcher(line).find())) {
            unusable.add();
            return new DriverException.BackendUnavailable(
                    message
                            + "; this kernel lacks the ciphers of aes256k keys (modules `authenc`, `krb5enc` and `cts`); the"
                            + " next try takes ceph-fuse, unless mounter is kernel",
                    e);
        }
        return switch (e.errno()) {
            case EACCES, EPERM, EKEYREJECTED, ENOKEY, EKEYEXPIRED -> new DriverException.AccessDenied(message);
            case ENOENT -> new DriverException.NotFound(message);
            case EHOSTUNREACH ->
                log.stream().anyMatch(line -> REFUSED.matcher(line).find())
                        ? new DriverException.AccessDenied(message + "; the monitor refused the key")
                        : new DriverException.BackendUnavailable(
                                message + "; no MDS of that file system is active, or there is no such file system", e);
            case EINVAL ->
                new DriverException.InvalidRequest(message + "; this kernel rejects one of the mount options "
                        + mount.options().client() + ": "
                        + words(log, mount.credentials().key()));
            default -> new DriverException.BackendUnavailable(message, e);
        };
    }

    /// Returns the client's log lines, without those that hold the key.
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
            return Optional.empty(); // a mount of another program, in another form
        }
    }

    @Override
    public boolean needsItsRoot() {
        return false;
    }

    /// Force drops data that the kernel has not written, so only a client that can never write it may be forced.
    @Override
    public boolean mayForce(boolean dead) {
        return dead;
    }

    /// The kernel writes before umount2(2) returns.
    @Override
    public void awaitEnd(MountEntry unmounted, Duration limit) {}
}
