package dev.siphon.node.linux;

/// Which file a file is, whatever its name.
///
/// @param device the file system's device number, as stat(2) and `LOOP_GET_STATUS64` encode it
/// @param inode its number there
public record FileIdentity(long device, long inode) {
    private static final int MINOR_LOW = 0xff;

    /// `new_encode_dev` of `linux/kdev_t.h`.
    static long encode(int major, int minor) {
        return Integer.toUnsignedLong((minor & MINOR_LOW) | (major << 8) | ((minor & ~MINOR_LOW) << 12));
    }
}
