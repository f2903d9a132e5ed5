package dev.siphon.controller.offboard;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/// Writes a tar archive in the `pax` format of POSIX.1-2008, which every tar reads. An extended header precedes an
/// entry that ustar cannot hold.
///
/// Names are bytes, one char per byte (ISO 8859-1), as files have them.
public final class TarWriter implements Closeable {
    private static final int BLOCK = 512;
    private static final int NAME_BYTES = 100;
    private static final long MOST_ID = 07777777;
    private static final long MOST_SIZE = 077777777777L;

    private final OutputStream out;

    /// @param out is closed with this writer
    public TarWriter(OutputStream out) {
        this.out = out;
    }

    public enum MemberType {
        FILE('0'),
        HARD_LINK('1'),
        SYMLINK('2'),
        DIRECTORY('5'),
        FIFO('6');

        private final char flag;

        MemberType(char flag) {
            this.flag = flag;
        }
    }

    /// A member of the archive.
    ///
    /// @param name its relative path
    /// @param target of a link; "" for others
    /// @param mode permission bits
    /// @param uid unsigned
    /// @param gid unsigned
    /// @param sizeBytes of a file's contents; 0 for others
    /// @param modifiedSeconds since 1970
    /// @param attributes `user.` attributes by name
    public record Member(
            MemberType type,
            String name,
            String target,
            int mode,
            int uid,
            int gid,
            long sizeBytes,
            long modifiedSeconds,
            Map<String, byte[]> attributes) {
        public Member {
            attributes = Map.copyOf(attributes);
        }
    }

    /// Begins an entry. A file's contents follow, through [#write].
    public void begin(Member entry) throws IOException {
        Map<String, byte[]> more = extended(entry);
        if (!more.isEmpty()) {
            byte[] records = records(more);
            header('x', "PaxHeaders/entry", "", 0644, 0, 0, records.length, 0);
            write(records, records.length);
            pad(records.length);
        }
        header(
                entry.type().flag,
                entry.name(),
                entry.target(),
                entry.mode(),
                Math.min(Integer.toUnsignedLong(entry.uid()), MOST_ID),
                Math.min(Integer.toUnsignedLong(entry.gid()), MOST_ID),
                Math.min(entry.sizeBytes(), MOST_SIZE),
                Math.clamp(entry.modifiedSeconds(), 0, MOST_SIZE));
    }

    /// Writes part of a file's contents.
    public void write(byte[] bytes, int length) throws IOException {
        out.write(bytes, 0, length);
    }

    /// Ends a file: pads it to a full block.
    ///
    /// @param sizeBytes the size of the whole contents
    public void pad(long sizeBytes) throws IOException {
        int over = (int) (sizeBytes % BLOCK);
        if (over > 0) {
            out.write(new byte[BLOCK - over]);
        }
    }

    /// Ends the archive.
    @Override
    public void close() throws IOException {
        try (out) {
            out.write(new byte[2 * BLOCK]);
        }
    }

    private static Map<String, byte[]> extended(Member entry) {
        Map<String, byte[]> more = new TreeMap<>();
        if (isLong(entry.name())) {
            more.put("path", bytes(entry.name()));
        }
        if (isLong(entry.target())) {
            more.put("linkpath", bytes(entry.target()));
        }
        if (!isText(entry.name()) || !isText(entry.target())) {
            more.put("hdrcharset", bytes("BINARY"));
        }
        number(more, "uid", Integer.toUnsignedLong(entry.uid()), MOST_ID);
        number(more, "gid", Integer.toUnsignedLong(entry.gid()), MOST_ID);
        number(more, "size", entry.sizeBytes(), MOST_SIZE);
        if (entry.modifiedSeconds() < 0) {
            more.put("mtime", bytes(Long.toString(entry.modifiedSeconds())));
        }
        entry.attributes().forEach((name, value) -> more.put("SCHILY.xattr." + name, value));
        return more;
    }

    private static void number(Map<String, byte[]> more, String key, long value, long most) {
        if (value > most) {
            more.put(key, bytes(Long.toString(value)));
        }
    }

    private static boolean isLong(String name) {
        return name.length() > NAME_BYTES || name.chars().anyMatch(each -> each > '~');
    }

    private static boolean isText(String name) {
        try {
            var _ = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes(name)));
            return true;
        } catch (CharacterCodingException other) {
            return false;
        }
    }

    /// Formats records: `LENGTH KEY=VALUE` and a newline each. The length counts itself.
    private static byte[] records(Map<String, byte[]> more) throws IOException {
        ByteArrayOutputStream records = new ByteArrayOutputStream();
        for (Map.Entry<String, byte[]> each : more.entrySet()) {
            byte[] key = (" " + each.getKey() + "=").getBytes(StandardCharsets.UTF_8);
            int rest = key.length + each.getValue().length + 1;
            int length = rest + Integer.toString(rest).length();
            length = rest + Integer.toString(length).length();
            records.write(bytes(Integer.toString(length)));
            records.write(key);
            records.write(each.getValue());
            records.write('\n');
        }
        return records.toByteArray();
    }

    private void header(char type, String name, String target, int mode, long uid, long gid, long size, long modified)
            throws IOException {
        ByteBuffer block = ByteBuffer.allocate(BLOCK);
        text(block, 0, NAME_BYTES, name);
        octal(block, 100, 8, mode);
        octal(block, 108, 8, uid);
        octal(block, 116, 8, gid);
        octal(block, 124, 12, size);
        octal(block, 136, 12, modified);
        text(block, 148, 8, " ".repeat(8));
        block.put(156, (byte) type);
        text(block, 157, NAME_BYTES, target);
        text(block, 257, 8, "ustar\u000000");
        int sum = 0;
        for (byte each : block.array()) {
            sum += each & 0xff;
        }
        octal(block, 148, 7, sum);
        out.write(block.array());
    }

    private static void text(ByteBuffer block, int at, int most, String text) {
        byte[] bytes = bytes(text);
        block.put(at, bytes, 0, Math.min(most, bytes.length));
    }

    /// Writes octal digits and a NUL.
    private static void octal(ByteBuffer block, int at, int length, long value) {
        String digits = Long.toOctalString(value);
        text(block, at, length, "0".repeat(length - 1 - digits.length()) + digits + "\0");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
