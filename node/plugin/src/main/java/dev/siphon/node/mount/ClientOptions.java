package dev.siphon.node.mount;

import dev.siphon.csi.MountOptions;
import dev.siphon.node.linux.MountFlag;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// Mount options, sorted by where they take effect.
///
/// @param flags enforced by the kernel at each mount point
/// @param synchronous `sync` and `dirsync`, which apply to the whole file system
/// @param client all others: options of the Ceph client, each `name` or `name=value`
public record ClientOptions(Set<MountFlag> flags, List<String> synchronous, List<String> client) {
    private static final Set<String> SYNCHRONOUS = Set.of("sync", "dirsync");

    /// The kernel's default for access times; needs no flag.
    private static final String DEFAULT_ATIME = "relatime";

    /// Set on every volume: data needs no device nodes, and a setuid-root file on a volume must not give root
    /// elsewhere.
    private static final Set<MountFlag> ALWAYS = Set.of(MountFlag.NO_SUID, MountFlag.NO_DEV);

    public ClientOptions {
        flags = Set.copyOf(flags);
        synchronous = List.copyOf(synchronous);
        client = List.copyOf(client);
    }

    /// Sorts `options`.
    ///
    /// @throws dev.siphon.csi.DriverException.InvalidRequest (INVALID_ARGUMENT) if an option is not on the allow
    ///     list of [MountOptions]
    public static ClientOptions of(Collection<String> options, boolean readOnly) {
        Set<MountFlag> flags = EnumSet.copyOf(ALWAYS);
        Set<String> synchronous = new LinkedHashSet<>();
        Set<String> client = new LinkedHashSet<>();
        for (String option : options) {
            MountOptions.check(option);
            if (MountFlag.named(option).isPresent()) {
                flags.add(MountFlag.named(option).get());
            } else if (SYNCHRONOUS.contains(option)) {
                synchronous.add(option);
            } else if (!option.equals(DEFAULT_ATIME)) {
                client.add(option);
            }
        }
        if (readOnly) {
            flags.add(MountFlag.READ_ONLY);
        }
        return new ClientOptions(flags, List.copyOf(synchronous), List.copyOf(client));
    }

    public boolean isReadOnly() {
        return flags.contains(MountFlag.READ_ONLY);
    }
}
