package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.SortedMap;

/// The extended attributes of an image: `user.*`, and with [ImageModes#PRESERVED] the two access lists. Never
/// others: `security.*` and `trusted.*` grant rights on the machine that mounts, and `ceph.*` describes the source.
///
/// On disk they follow their inode (`struct erofs_xattr_ibody_header`, `struct erofs_xattr_entry` of
/// `fs/erofs/erofs_fs.h`). A header of 12 bytes comes first. Each attribute has the name length, the index of the
/// prefix, the value length, the name without prefix, the value, and padding to 4 bytes.
final class ExtendedAttributes {
    /// The maximum that the inode's count of 4-byte units can express.
    private static final int MAX_BYTES = 12 + 4 * (0xffff - 1);

    private static final int HEADER_BYTES = 12;
    private static final int ENTRY_BYTES = 4;
    private static final int MAX_NAME_BYTES = 255;
    private static final int MAX_VALUE_BYTES = 0xffff;
    private static final String USER = "user.";
    private static final Map<String, Byte> ACCESS_LISTS =
            Map.of("system.posix_acl_access", (byte) 2, "system.posix_acl_default", (byte) 3);
    private static final byte USER_INDEX = 1;

    /// The encoding of no attributes.
    static final byte[] NONE = {};

    private ExtendedAttributes() {}

    /// Whether the image keeps an attribute of that name.
    static boolean keeps(ImageModes modes, String name) {
        return (name.startsWith(USER) && name.length() > USER.length())
                || (modes.keepsAccessLists() && ACCESS_LISTS.containsKey(name));
    }

    /// Returns the bytes that follow the inode; empty for no attributes.
    ///
    /// @param path of the file, quoted, for messages
    /// @throws DriverException.CapacityOutOfRange (OUT_OF_RANGE) if they exceed the limits of EROFS
    static byte[] encoded(SortedMap<String, byte[]> attributes, String path) {
        if (attributes.isEmpty()) {
            return NONE;
        }
        long bytes = HEADER_BYTES;
        for (Map.Entry<String, byte[]> each : attributes.entrySet()) {
            check(each.getKey(), each.getValue(), path);
            bytes += entryBytes(each.getKey(), each.getValue());
        }
        if (bytes > MAX_BYTES) {
            throw tooLarge(path, "together", bytes, MAX_BYTES);
        }
        ByteBuffer encoded = ByteBuffer.allocate((int) bytes).order(ByteOrder.LITTLE_ENDIAN);
        encoded.position(HEADER_BYTES);
        attributes.forEach((name, value) -> {
            byte[] suffix = suffix(name);
            int end = encoded.position() + entryBytes(name, value);
            encoded.put((byte) suffix.length).put(index(name)).putShort((short) value.length);
            encoded.put(suffix).put(value).position(end);
        });
        return encoded.array();
    }

    private static void check(String name, byte[] value, String path) {
        if (suffix(name).length > MAX_NAME_BYTES) {
            throw tooLarge(path, "in a name", suffix(name).length, MAX_NAME_BYTES);
        }
        if (value.length > MAX_VALUE_BYTES) {
            throw tooLarge(path, "in one value", value.length, MAX_VALUE_BYTES);
        }
    }

    private static DriverException tooLarge(String path, String what, long bytes, long most) {
        return new DriverException.CapacityOutOfRange("the extended attributes of " + path + " have " + bytes
                + " bytes " + what + ", but EROFS allows " + most + ": remove some of them (setfattr -x)");
    }

    private static int entryBytes(String name, byte[] value) {
        return (ENTRY_BYTES + suffix(name).length + value.length + 3) & ~3;
    }

    private static byte index(String name) {
        return ACCESS_LISTS.getOrDefault(name, USER_INDEX);
    }

    private static byte[] suffix(String name) {
        return ACCESS_LISTS.containsKey(name)
                ? new byte[0]
                : name.substring(USER.length()).getBytes(StandardCharsets.ISO_8859_1);
    }

    /// Returns `i_xattr_icount` of the inode that `encoded` follows.
    static short count(byte[] encoded) {
        return (short) (encoded.length == 0 ? 0 : (encoded.length - HEADER_BYTES) / 4 + 1);
    }
}
