package dev.siphon.node.image;

import dev.siphon.csi.DriverException;

/// Checks the limits of EROFS and Linux for names and link targets. Violations are OUT_OF_RANGE.
final class ErofsLimits {
    private static final int MAX_NAME_BYTES = 255;

    private ErofsLimits() {}

    static void checkName(ImageInode.Folder folder, byte[] name) {
        if (name.length == 0 || name.length > MAX_NAME_BYTES || contains(name, '/')) {
            throw new DriverException.CapacityOutOfRange(
                    "the name " + TreePath.quoted(folder, name) + " has " + name.length
                            + " bytes or contains a slash, but EROFS allows 1 to 255 bytes without one: rename it");
        }
    }

    /// @param target the target of the symbolic link `name`
    static void checkTarget(ImageInode.Folder folder, byte[] name, byte[] target) {
        if (target.length == 0 || target.length >= ErofsFormat.BLOCK_BYTES) {
            throw new DriverException.CapacityOutOfRange("the symbolic link " + TreePath.quoted(folder, name)
                    + " has a target of " + target.length + " bytes, but Linux allows 1 to 4095: remove it");
        }
    }

    private static boolean contains(byte[] name, char wanted) {
        for (byte each : name) {
            if (each == wanted) {
                return true;
            }
        }
        return false;
    }
}
