package dev.siphon.node.ceph;

import dev.siphon.node.linux.Mounts;
import dev.siphon.node.mount.CephKey;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// What this node's kernel can.
///
/// @param hasCeph whether it has the file system, or finds a module for it
/// @param major the first number of its release
record KernelClient(boolean hasCeph, int major) {
    private static final Pattern RELEASE = Pattern.compile("([0-9]+)\\..*");

    /// The first kernel that can use keys of kind aes256k.
    private static final int AES256K_SINCE = 7;

    /// Asks the kernel. The module may be loaded later, so this is asked anew for every mount.
    static KernelClient ask() {
        return of(Mounts.kernelHas("ceph"), System.getProperty("os.version"));
    }

    static KernelClient of(boolean hasCeph, String release) {
        Matcher matcher = RELEASE.matcher(release);
        return new KernelClient(hasCeph, matcher.matches() ? Integer.parseInt(matcher.group(1)) : 0);
    }

    /// Why it cannot mount with `key`; empty if it can.
    Optional<String> obstacle(CephKey key) {
        if (!hasCeph) {
            return Optional.of("its kernel has no ceph file system, and no module for it");
        }
        return switch (key.kind()) {
            case AES -> Optional.empty();
            case AES256K ->
                major >= AES256K_SINCE
                        ? Optional.empty()
                        : Optional.of("kernels before " + AES256K_SINCE + ".0 cannot use an aes256k key");
        };
    }
}
