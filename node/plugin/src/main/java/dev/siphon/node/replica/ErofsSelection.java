package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.node.fuse.FuseChildren;
import dev.siphon.node.fuse.FuseProcesses;
import dev.siphon.node.fuse.FuseProgram;
import dev.siphon.node.linux.MountSyscalls;
import java.util.function.BooleanSupplier;

/// Chooses the reader for an image's file system: the kernel's EROFS, or else erofsfuse.
///
/// @param kernel checks the kernel for EROFS; may load its module
/// @param program checks whether erofsfuse can be used
/// @param processes runs erofsfuse
public record ErofsSelection(BooleanSupplier kernel, BooleanSupplier program, FuseProcesses processes) {
    /// The remedies for a kernel without EROFS.
    static final String REMEDY = "`modprobe erofs` on the node, or a kernel built with CONFIG_EROFS_FS";

    enum ErofsReader {
        KERNEL,
        PROGRAM
    }

    /// Returns the selection for this node. It checks again for each tree, because modules may be loaded later.
    public static ErofsSelection ofThisNode() {
        return ofThisNode(new FuseChildren());
    }

    /// Returns the same, with erofsfuse run by `processes`.
    public static ErofsSelection ofThisNode(FuseProcesses processes) {
        return new ErofsSelection(
                () -> MountSyscalls.kernelHas(ImageMounts.TYPE),
                () -> isProgramInstalled() && MountSyscalls.kernelHas(ErofsFuse.BLOCK_TYPE),
                processes);
    }

    /// Returns whether erofsfuse is on the `PATH`.
    public static boolean isProgramInstalled() {
        return FuseProgram.EROFSFUSE.isInstalled();
    }

    /// Chooses the reader for a new tree.
    ///
    /// @throws DriverException.Unsupported (UNIMPLEMENTED) if this node has neither
    ErofsReader choose() {
        if (kernel.getAsBoolean()) {
            return ErofsReader.KERNEL;
        }
        if (program.getAsBoolean()) {
            return ErofsReader.PROGRAM;
        }
        throw new DriverException.Unsupported("this node cannot read datasets: its kernel has no EROFS, and "
                + FuseProgram.EROFSFUSE.command() + " cannot be used instead: " + REMEDY + "; or install "
                + FuseProgram.EROFSFUSE.command()
                + ", which needs FUSE (`modprobe fuse`)");
    }
}
