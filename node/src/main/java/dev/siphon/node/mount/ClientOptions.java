package dev.siphon.node.mount;

import dev.siphon.csi.MountOptions;
import dev.siphon.node.linux.MountFlag;
import java.util.Collection;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/// Mount options by who obeys them.
///
/// @param flags what the kernel enforces at each mount point by itself
/// @param synchronous `sync` and `dirsync`, which belong to the file system as a whole
/// @param client what is left: options of the Ceph client, each `name` or `name=value`
public record ClientOptions(Set<MountFlag> flags, List<String> synchronous, List<String> client) {
    private static final Set<String> SYNCHRONOUS = Set.of("sync", "dirsync");

    /// How access times are kept when nothing is said, so it needs no flag.
    private static final String DEFAULT_ATIME = "relatime";

    /// What every volume gets: data needs no device nodes, and whoever can make a file owned by root on a volume
    /// must not become root with it elsewhere.
    private static final Set<MountFlag> ALWAYS = Set.of(MountFlag.NO_SUID, MountFlag.NO_DEV);

    public ClientOptions {
        flags = Set.copyOf(flags);
        synchronous = List.copyOf(synchronous);
        client = List.copyOf(client);
    }

    /// Sorts `options`.
    ///
    /// @throws dev.siphon.csi.DriverException.InvalidRequest (INVALID_ARGUMENT) if one is not on the allow
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
