package dev.siphon.node.ceph;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext.MounterChoice;
import dev.siphon.node.fuse.FuseCaches;
import dev.siphon.node.fuse.FuseProcesses;
import dev.siphon.node.fuse.FuseProgram;
import dev.siphon.node.mount.CephKey;
import dev.siphon.node.mount.MountKind;
import dev.siphon.node.mount.Mounter;
import dev.siphon.node.mount.Mounters;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Chooses between the kernel client, which is faster, and ceph-fuse, which works on every kernel.
///
/// @param override the administrator's choice for this node, which overrides that of classes; `auto` for none
/// @param kernel queries the kernel's capabilities
/// @param fuse checks whether ceph-fuse is installed
public record MounterSelection(
        MounterChoice override,
        Supplier<KernelClient> kernel,
        BooleanSupplier fuse,
        Mounter kernelMounter,
        Mounter fuseMounter)
        implements Mounters.Selection {
    /// Returns the mounters of this node.
    ///
    /// @param nodeName the host name that clients report to Ceph
    /// @param caches the cache sizes of each ceph-fuse
    /// @param processes runs ceph-fuse
    /// @param others kinds of mounts that are not Ceph clients
    public static Mounters ofThisNode(
            MounterChoice override, String nodeName, FuseCaches caches, FuseProcesses processes, MountKind... others) {
        UnusableKeys unusable = new UnusableKeys();
        Mounter kernel = new KernelMounter(unusable);
        Mounter fuse = new FuseMounter(nodeName, caches, processes);
        return new Mounters(
                Stream.concat(Stream.of(kernel, fuse), Stream.of(others)).toList(),
                new MounterSelection(
                        override,
                        () -> unusable.restrict(KernelClient.ask()),
                        MounterSelection::isFuseInstalled,
                        kernel,
                        fuse));
    }

    /// Returns why this node cannot mount anything; empty if it can.
    public static Optional<String> obstacle() {
        return isFuseInstalled() || KernelClient.isThere()
                ? Optional.empty()
                : Optional.of("the kernel has no ceph file system, and ceph-fuse is not installed");
    }

    @Override
    public Mounter choose(MounterChoice asked, CephKey key) {
        return switch (override == MounterChoice.AUTO ? asked : override) {
            case KERNEL -> {
                kernel.get().obstacle(key.kind()).ifPresent(why -> {
                    throw unable("kernel", why);
                });
                yield kernelMounter;
            }
            case FUSE -> {
                requireFuse();
                yield fuseMounter;
            }
            case AUTO -> {
                if (kernel.get().obstacle(key.kind()).isEmpty()) {
                    yield kernelMounter;
                }
                requireFuse();
                yield fuseMounter;
            }
        };
    }

    private void requireFuse() {
        if (!fuse.getAsBoolean()) {
            throw unable("fuse", FuseProgram.CEPH_FUSE.command() + " is not installed");
        }
    }

    private static DriverException unable(String mounter, String why) {
        return new DriverException.InUse("this node cannot mount with mounter=" + mounter + ": " + why);
    }

    /// Whether ceph-fuse is on the `PATH`.
    public static boolean isFuseInstalled() {
        return FuseProgram.CEPH_FUSE.isInstalled();
    }
}
