package dev.siphon.node.tar;

import java.nio.charset.StandardCharsets;
import java.util.List;

/// Tars of every supported kind, for fuzzers.
public final class Tars {
    private static final int CHECKSUM_AT = 148;
    private static final int CHECKSUM_BYTES = 8;

    private Tars() {}

    public static List<byte[]> valid() {
        byte[] data = new byte[600];
        byte[] lines = new byte[518];
        TarWriter.put(lines, 0, "2\n2\n3\n8\n3\n");
        return List.of(
                new TarWriter()
                        .directory("d/")
                        .file("d/f", "content")
                        .link('2', "s", "../out")
                        .link('1', "h", "d/f")
                        .with('7', "contiguous", "", data)
                        .link('3', "device", "")
                        .end(),
                new TarWriter()
                        .pax('g', "uid", "5", "mtime", "1", "SCHILY.xattr.user.a", "g")
                        .pax(
                                'x',
                                "mtime",
                                "-1.0000000019",
                                "path",
                                "l/".repeat(150) + "f",
                                "SCHILY.xattr.user.b%3D%25",
                                "\0=\n")
                        .file("f", "")
                        .with('L', "././@LongLink", "", "long\0".getBytes(StandardCharsets.ISO_8859_1))
                        .file("f", "x")
                        .end(),
                new TarWriter()
                        .pax('x', "GNU.sparse.size", "16", "GNU.sparse.map", "2,3,8,3", "GNU.sparse.name", "f")
                        .file("GNUSparseFile.1/f", "abcdef")
                        .pax('x', "GNU.sparse.size", "9", "GNU.sparse.offset", "2", "GNU.sparse.numbytes", "3")
                        .file("f", "abc")
                        .pax('x', "GNU.sparse.major", "1", "GNU.sparse.minor", "0", "GNU.sparse.realsize", "16")
                        .with('0', "GNUSparseFile.1/f", "", lines)
                        .end(),
                new TarWriter().sealed(oldSparse()).raw(new byte[6]).end());
    }

    private static byte[] oldSparse() {
        byte[] block = new byte[TarHeader.BYTES];
        System.arraycopy(new TarWriter().header('S', "f", "", "00000000006").bytes(), 0, block, 0, block.length);
        TarWriter.put(block, 257, "ustar  \0");
        TarWriter.put(block, 386, "00000000002\0");
        TarWriter.put(block, 398, "00000000003\0");
        TarWriter.put(block, 410, "00000000010\0");
        TarWriter.put(block, 422, "00000000003\0");
        TarWriter.put(block, 483, "00000000020");
        return block;
    }

    /// Returns the tar with a correct checksum in each block that might be a header.
    public static byte[] withChecksums(byte[] bytes) {
        byte[] tar = bytes.clone();
        for (int block = 0; block + TarHeader.BYTES <= tar.length; block += TarHeader.BYTES) {
            if (new String(tar, block + 257, 5, StandardCharsets.ISO_8859_1).equals("ustar")) {
                TarWriter.put(tar, block + CHECKSUM_AT, " ".repeat(CHECKSUM_BYTES));
                int sum = 0;
                for (int i = 0; i < TarHeader.BYTES; i++) {
                    sum += tar[block + i] & 0xff;
                }
                TarWriter.put(tar, block + CHECKSUM_AT, String.format("%06o\0 ", sum));
            }
        }
        return tar;
    }
}
