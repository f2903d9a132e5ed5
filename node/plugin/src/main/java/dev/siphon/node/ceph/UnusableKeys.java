package dev.siphon.node.ceph;

import dev.siphon.node.mount.CephKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

/// Remembers that the kernel took an aes256k key and then could not use it, which shows only when it mounts: it lacks
/// the ciphers, or they are forbidden. Forgets that when the module libceph is loaded again. A reboot ends this
/// process anyway.
public final class UnusableKeys {
    private static final Path MODULE = Path.of("/sys/module/libceph");

    private final Supplier<String> module;

    /// The module that could not use the key; empty if none was seen.
    private volatile Optional<String> unable = Optional.empty();

    public UnusableKeys() {
        this(UnusableKeys::loaded);
    }

    /// @param module identifies the module as it was loaded
    UnusableKeys(Supplier<String> module) {
        this.module = module;
    }

    /// Returns what identifies the module's directory in sysfs: loading the module makes a new one, even if it is of
    /// the same version.
    private static String loaded() {
        try {
            return Objects.toString(
                    Files.readAttributes(MODULE, BasicFileAttributes.class).fileKey());
        } catch (IOException _) {
            return ""; // built in, so it never changes
        }
    }

    /// Notes that the kernel could not use an aes256k key.
    void add() {
        unable = Optional.of(module.get());
    }

    /// Returns what the kernel can do apart from what did not work.
    KernelClient restrict(KernelClient kernel) {
        return unable.filter(module.get()::equals).isPresent()
                ? kernel.without(
                        CephKey.Kind.AES256K,
                        "Linux " + kernel.release() + " could not use an aes256k key when it last mounted with one:"
                                + " install its modules `authenc`, `krb5enc` and `cts`, then restart this process")
                : kernel;
    }
}
