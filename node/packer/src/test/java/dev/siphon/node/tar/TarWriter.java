package dev.siphon.node.tar;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Writes valid and invalid tars for tests. Text is ISO 8859-1.
public final class TarWriter {
    private static final int BLOCK = 512;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    private static byte[] octets(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    public int position() {
        return out.size();
    }

    /// Adds a header and its data, padded to a block.
    public TarWriter with(char type, String name, String link, byte[] data) {
        return header(type, name, link, "%011o".formatted(data.length)).raw(data);
    }

    public TarWriter header(char type, String name, String link, String size) {
        byte[] block = new byte[BLOCK];
        put(block, 0, name);
        put(block, 100, "0000750");
        put(block, 108, "0000012");
        put(block, 116, "0000013");
        put(block, 124, size);
        put(block, 136, "00000000144");
        block[156] = (byte) type;
        put(block, 157, link);
        put(block, 257, "ustar");
        put(block, 263, "00");
        return sealed(block);
    }

    /// Adds a header after correcting its checksum.
    public TarWriter sealed(byte[] block) {
        Arrays.fill(block, 148, 156, (byte) ' ');
        int sum = 0;
        for (byte each : block) {
            sum += Byte.toUnsignedInt(each);
        }
        put(block, 148, "%06o".formatted(sum) + "\0 ");
        out.writeBytes(block);
        return this;
    }

    static void put(byte[] block, int at, String text) {
        byte[] octets = octets(text);
        System.arraycopy(octets, 0, block, at, octets.length);
    }

    public TarWriter raw(byte[] data) {
        out.writeBytes(data);
        out.writeBytes(new byte[(BLOCK - data.length % BLOCK) % BLOCK]);
        return this;
    }

    public TarWriter file(String name, String content) {
        return with('0', name, "", octets(content));
    }

    public TarWriter directory(String name) {
        return with('5', name, "", new byte[0]);
    }

    public TarWriter link(char type, String name, String target) {
        return with(type, name, target, new byte[0]);
    }

    /// Adds a pax header of alternating keys and values.
    public TarWriter pax(char type, String... records) {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < records.length; i += 2) {
            String line = " " + records[i] + "=" + records[i + 1] + "\n";
            int length = line.length() + 1;
            while (Integer.toString(length).length() + line.length() > length) {
                length++;
            }
            all.append(length).append(line);
        }
        return with(type, "pax", "", octets(all.toString()));
    }

    /// Returns the tar with its end marker.
    public byte[] end() {
        return raw(new byte[2 * BLOCK]).bytes();
    }

    public byte[] bytes() {
        return out.toByteArray();
    }
}
