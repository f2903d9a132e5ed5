package dev.siphon.node.ceph;

import dev.siphon.node.linux.MountSyscalls;
import dev.siphon.node.mount.CephKey;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The capabilities of this node's kernel.
///
/// @param hasCeph whether it has the ceph file system, built in or as a module
/// @param major the major version of its release
/// @param minor the minor version
public record KernelClient(boolean hasCeph, int major, int minor) {
    private static final Pattern RELEASE = Pattern.compile("([0-9]{1,9})\\.([0-9]{1,9}).*");

    /// The first major version that supports keys of kind aes256k.
    private static final int AES256K_SINCE = 7;

    /// The first version whose CephFS supports id-mapped mounts: 6.7.
    private static final int IDMAP_SINCE = 6;

    private static final int IDMAP_SINCE_MINOR = 7;

    /// Queries the kernel. Runs again for every mount, as the module may be loaded later.
    public static KernelClient ask() {
        return of(MountSyscalls.kernelHas("ceph"), System.getProperty("os.version"));
    }

    public static KernelClient of(boolean hasCeph, String release) {
        Matcher matcher = RELEASE.matcher(release);
        return matcher.matches()
                ? new KernelClient(hasCeph, Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)))
                : new KernelClient(hasCeph, 0, 0);
    }

    /// Whether CephFS supports id-mapped mounts.
    public boolean mapsOwners() {
        return major > IDMAP_SINCE || (major == IDMAP_SINCE && minor >= IDMAP_SINCE_MINOR);
    }

    /// Returns why it cannot mount with a key of that kind; empty if it can.
    public Optional<String> obstacle(CephKey.Kind key) {
        if (!hasCeph) {
            return Optional.of("its kernel has no ceph file system, and no module for it");
        }
        return switch (key) {
            case AES -> Optional.empty();
            case AES256K ->
                major >= AES256K_SINCE
                        ? Optional.empty()
                        : Optional.of("kernels before " + AES256K_SINCE + ".0 cannot use an aes256k key");
        };
    }
}
