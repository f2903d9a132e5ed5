package dev.siphon.node.unpack;

import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchFailure.Reason;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;

/// A zip (PKWARE's APPNOTE 6.3), also a large one (zip64). Its directory is read entry by entry: libraries keep every
/// entry, and a zip of millions of files, or one that only claims them, would take gigabytes of memory.
record ZipArchive(Path file) implements Archive {
    private static final int END_BYTES = 22;
    private static final int MAX_COMMENT_BYTES = 65_535;
    private static final int LOCATOR_BYTES = 20;
    private static final int END64_BYTES = 56;
    private static final int ENTRY_BYTES = 46;
    private static final int LOCAL_BYTES = 30;
    private static final int END_MAGIC = 0x06054b50;
    private static final int LOCATOR_MAGIC = 0x07064b50;
    private static final int END64_MAGIC = 0x06064b50;
    private static final int ENTRY_MAGIC = 0x02014b50;
    private static final int LOCAL_MAGIC = 0x04034b50;
    private static final int STORED = 0;
    private static final int DEFLATED = 8;
    private static final int ENCRYPTED = 0x2041;
    private static final int UNIX = 3;
    private static final int MACOS = 19;
    private static final int EXTRA_ZIP64 = 1;
    private static final long IN_ZIP64 = 0xffff_ffffL;
    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int MAX_TARGET_BYTES = 4096;

    /// @param at offset of the first entry, in bytes
    private record Directory(long at, long end) {}

    /// @param name each character is one byte
    /// @param mode of Unix; 0 if the zip was made elsewhere
    /// @param local offset of the local header, in bytes
    private record Entry(
            String name, int flags, int method, long time, long crc, long packed, long bytes, int mode, long local) {}

    @Override
    public void read(TreeSink sink) throws IOException {
        try (FileChannel zip = FileChannel.open(file, StandardOpenOption.READ)) {
            Directory directory = directory(zip);
            long at = directory.at();
            while (at < directory.end()) {
                ByteBuffer fixed = bytes(zip, at, ENTRY_BYTES);
                if (fixed.getInt(0) != ENTRY_MAGIC) {
                    throw new IOException("its directory is damaged at byte " + at);
                }
                int name = Short.toUnsignedInt(fixed.getShort(28));
                int extra = Short.toUnsignedInt(fixed.getShort(30));
                int comment = Short.toUnsignedInt(fixed.getShort(32));
                pass(zip, entry(fixed, bytes(zip, at + ENTRY_BYTES, name + extra), name), sink);
                at += ENTRY_BYTES + name + extra + comment;
            }
        }
    }

    private static Directory directory(FileChannel zip) throws IOException {
        int tail = (int) Math.min(zip.size(), END_BYTES + MAX_COMMENT_BYTES);
        long begin = zip.size() - tail;
        ByteBuffer last = bytes(zip, begin, tail);
        for (int at = tail - END_BYTES; at >= 0; at--) {
            if (last.getInt(at) == END_MAGIC) {
                long size = Integer.toUnsignedLong(last.getInt(at + 12));
                long start = Integer.toUnsignedLong(last.getInt(at + 16));
                return directory64(zip, begin + at, new Directory(start, start + size));
            }
        }
        throw new IOException("the directory at its end is missing: it was cut off");
    }

    private static Directory directory64(FileChannel zip, long end, Directory small) throws IOException {
        Directory found = small;
        if (end >= LOCATOR_BYTES) {
            ByteBuffer locator = bytes(zip, end - LOCATOR_BYTES, LOCATOR_BYTES);
            if (locator.getInt(0) == LOCATOR_MAGIC) {
                ByteBuffer large = bytes(zip, locator.getLong(8), END64_BYTES);
                if (large.getInt(0) != END64_MAGIC) {
                    throw new IOException("the zip64 directory at its end is damaged");
                }
                long size = large.getLong(40);
                long start = large.getLong(48);
                found = new Directory(start, start + size);
            }
        }
        if (found.at() < 0 || found.end() < found.at() || found.end() > end) {
            throw new IOException("its directory is not where its end says");
        }
        return found;
    }

    private static Entry entry(ByteBuffer fixed, ByteBuffer rest, int nameBytes) throws IOException {
        byte[] name = new byte[nameBytes];
        rest.get(0, name);
        long bytes = Integer.toUnsignedLong(fixed.getInt(24));
        long packed = Integer.toUnsignedLong(fixed.getInt(20));
        long local = Integer.toUnsignedLong(fixed.getInt(42));
        for (int at = nameBytes; at + 4 <= rest.limit(); ) {
            int end = at + 4 + Short.toUnsignedInt(rest.getShort(at + 2));
            if (rest.getShort(at) == EXTRA_ZIP64 && end <= rest.limit()) {
                ByteBuffer large = rest.slice(at + 4, end - at - 4).order(ByteOrder.LITTLE_ENDIAN);
                bytes = large(large, bytes);
                packed = large(large, packed);
                local = large(large, local);
            }
            at = end;
        }
        int system = fixed.get(5);
        int mode = system == UNIX || system == MACOS ? fixed.getInt(38) >>> 16 : 0;
        return new Entry(
                new String(name, StandardCharsets.ISO_8859_1),
                Short.toUnsignedInt(fixed.getShort(8)),
                Short.toUnsignedInt(fixed.getShort(10)),
                Integer.toUnsignedLong(fixed.getInt(12)),
                Integer.toUnsignedLong(fixed.getInt(16)),
                packed,
                bytes,
                mode,
                local);
    }

    private static long large(ByteBuffer extra, long value) throws IOException {
        if (value != IN_ZIP64) {
            return value;
        }
        if (extra.remaining() < Long.BYTES) {
            throw new IOException("a size in its directory is missing");
        }
        long size = extra.getLong();
        if (size < 0) {
            throw new IOException("a size in its directory is negative");
        }
        return size;
    }

    private static void pass(FileChannel zip, Entry entry, TreeSink sink) throws IOException {
        MemberPath path = MemberPath.parse(entry.name());
        if ((entry.flags() & ENCRYPTED) != 0) {
            throw new FetchFailure(
                    Reason.MALFORMED, path.shown() + " of the zip is encrypted: make it without a password");
        }
        if (entry.method() != STORED && entry.method() != DEFLATED) {
            throw new FetchFailure(
                    Reason.MALFORMED,
                    path.shown() + " of the zip is compressed by method " + entry.method()
                            + ": make it with deflate, or make a tar");
        }
        int type = entry.mode() & 0xf000;
        boolean isDirectory = entry.name().endsWith("/") || type == 0x4000;
        int permissions = entry.mode() == 0 ? (isDirectory ? 0755 : 0644) : entry.mode();
        TreeSink.Attributes attributes = TreeSink.Attributes.of(permissions, seconds(entry.time()), 0);
        if (isDirectory) {
            sink.directory(path, attributes);
        } else if (type == 0xa000) {
            sink.symlink(path, target(zip, entry, path));
        } else if (type == 0 || type == 0x8000) {
            sink.file(path, attributes, entry.bytes(), target -> copy(zip, entry, target));
        } else {
            throw path.refused("is a device, a socket or a FIFO: leave it out");
        }
    }

    /// Returns the time of MS-DOS, which has no time zone, in seconds since 1970.
    private static long seconds(long time) {
        int date = (int) (time >>> 16);
        int clock = (int) (time & 0xffff);
        try {
            return LocalDateTime.of(
                            1980 + (date >>> 9),
                            (date >>> 5) & 15,
                            date & 31,
                            clock >>> 11,
                            (clock >>> 5) & 63,
                            (clock & 31) * 2)
                    .toEpochSecond(ZoneOffset.UTC);
        } catch (DateTimeException _) {
            return 0;
        }
    }

    private static String target(FileChannel zip, Entry entry, MemberPath path) throws IOException {
        if (entry.bytes() > MAX_TARGET_BYTES) {
            throw path.refused("is a symbolic link with a target of " + entry.bytes() + " bytes");
        }
        byte[] target = new byte[(int) entry.bytes()];
        copy(zip, entry, (offset, bytes, length) -> System.arraycopy(bytes, 0, target, (int) offset, length));
        return new String(target, StandardCharsets.ISO_8859_1);
    }

    private static void copy(FileChannel zip, Entry entry, TreeSink.Target target) throws IOException {
        ByteBuffer local = bytes(zip, entry.local(), LOCAL_BYTES);
        if (local.getInt(0) != LOCAL_MAGIC) {
            throw new IOException("an entry is missing at byte " + entry.local());
        }
        long at = entry.local()
                + LOCAL_BYTES
                + Short.toUnsignedInt(local.getShort(26))
                + Short.toUnsignedInt(local.getShort(28));
        Inflater inflater = new Inflater(true);
        CRC32 crc = new CRC32();
        try (InputStream packed = new Part(zip, at, entry.packed());
                InputStream content = new CheckedInputStream(
                        entry.method() == STORED ? packed : new InflaterInputStream(packed, inflater, BUFFER_BYTES),
                        crc)) {
            byte[] buffer = new byte[BUFFER_BYTES];
            long done = 0;
            for (int read = content.read(buffer); read >= 0; read = content.read(buffer)) {
                if (read > entry.bytes() - done) {
                    throw new IOException("an entry is longer than its directory says");
                }
                target.write(done, buffer, read);
                done += read;
            }
            if (done != entry.bytes() || crc.getValue() != entry.crc()) {
                throw new IOException("an entry does not have the size and checksum that its directory says");
            }
        } finally {
            inflater.end();
        }
    }

    private static ByteBuffer bytes(FileChannel zip, long at, int count) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(count).order(ByteOrder.LITTLE_ENDIAN);
        while (at >= 0 && bytes.hasRemaining() && zip.read(bytes, at + bytes.position()) >= 0) {
            // a channel may read less
        }
        if (bytes.hasRemaining()) {
            throw new EOFException("it was cut off, or refers to byte " + at + ", which it does not have");
        }
        return bytes.flip();
    }

    /// A part of the file, as a stream.
    private static final class Part extends InputStream {
        private final FileChannel zip;
        private long at;
        private long left;

        Part(FileChannel zip, long at, long length) {
            this.zip = zip;
            this.at = at;
            left = length;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            if (left <= 0) {
                return -1;
            }
            int read = zip.read(ByteBuffer.wrap(target, offset, (int) Math.min(length, left)), at);
            at += Math.max(0, read);
            left -= Math.max(0, read);
            return read;
        }
    }
}
