package dev.siphon.node.linux;

/// Identifies a file independently of its name.
///
/// @param device the file system's device number, encoded as in stat(2) and `LOOP_GET_STATUS64`
/// @param inode its number there
public record FileIdentity(long device, long inode) {
    private static final int MINOR_LOW = 0xff;

    /// `new_encode_dev` of `linux/kdev_t.h`.
    static long encode(int major, int minor) {
        return Integer.toUnsignedLong((minor & MINOR_LOW) | (major << 8) | ((minor & ~MINOR_LOW) << 12));
    }
}
