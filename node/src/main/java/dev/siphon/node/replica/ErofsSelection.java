package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.node.fuse.FuseChildren;
import dev.siphon.node.fuse.FuseProcesses;
import dev.siphon.node.fuse.FuseProgram;
import dev.siphon.node.linux.MountSyscalls;
import java.util.function.BooleanSupplier;

/// Chooses what reads the file system of an image: the kernel's EROFS, or erofsfuse where the kernel has none.
///
/// @param kernel asks the kernel for EROFS, which may load its module
/// @param program asks whether erofsfuse can be used
/// @param processes run erofsfuse
public record ErofsSelection(BooleanSupplier kernel, BooleanSupplier program, FuseProcesses processes) {
    /// What an administrator can do about a kernel without EROFS.
    static final String REMEDY = "`modprobe erofs` on the node, or a kernel built with CONFIG_EROFS_FS";

    /// What reads an image.
    enum ErofsReader {
        KERNEL,
        PROGRAM
    }

    /// What this node has. Modules may be loaded later, so that is asked anew for each tree.
    public static ErofsSelection ofThisNode() {
        return ofThisNode(new FuseChildren());
    }

    /// The same, with erofsfuse run by `processes`.
    public static ErofsSelection ofThisNode(FuseProcesses processes) {
        return new ErofsSelection(
                () -> MountSyscalls.kernelHas(ImageMounts.TYPE),
                () -> isProgramInstalled() && MountSyscalls.kernelHas(ErofsFuse.BLOCK_TYPE),
                processes);
    }

    /// Whether erofsfuse is on the `PATH`.
    public static boolean isProgramInstalled() {
        return FuseProgram.EROFSFUSE.isInstalled();
    }

    /// What a new tree is to be read by.
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
