package dev.siphon.node.tar;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.fuzz.ParserFuzz;
import io.airlift.compress.zstd.ZstdOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

/// Tars that anybody may have made, compressed or not.
final class TarParsingFuzzTest {
    private static final int CHECKSUM_AT = 148;
    private static final int CHECKSUM_BYTES = 8;

    /// What is read of a stream at most: its packer writes it to a disk with a bound of its own.
    private static final int MOST_UNPACKED_BYTES = 4 << 20;

    private static List<byte[]> tars() {
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
                                "l".repeat(300),
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

    private static void scan(byte[] tar) {
        TarScanner scanner = new TarScanner(new InMemory(tar));
        for (Optional<TarMember> next = scanner.next(); next.isPresent(); next = scanner.next()) {
            var _ = TarPath.parts(next.get().path(), 1, next.get().offset());
            var _ = TarPath.quoted(next.get().link());
        }
    }

    @Test
    void damagedTars() {
        ParserFuzz.of("tars", tars(), TarParsingFuzzTest::scan, DriverException.InvalidRequest.class)
                .run();
    }

    /// Each block that might be a header has the checksum that it should: what is bent gets past that.
    @Test
    void tarsWithRightChecksums() {
        ParserFuzz.of(
                        "tars with checksums",
                        tars(),
                        bytes -> scan(withChecksums(bytes)),
                        DriverException.InvalidRequest.class)
                .run();
    }

    private static byte[] withChecksums(byte[] bytes) {
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

    @Test
    void paxRecords() {
        ParserFuzz.of(
                        "pax records",
                        ParserFuzz.texts("12 path=abc\n13 mtime=1.5\n25 SCHILY.xattr.user.a=1\n"),
                        bytes -> {
                            PaxRecords records = PaxRecords.parse(bytes, 0);
                            records.attributes();
                            var _ = records.time("mtime", 0);
                            var _ = records.number("size", 0);
                        },
                        DriverException.InvalidRequest.class)
                .run();
    }

    private static byte[] compressed(Compression how) {
        byte[] content = new byte[20_000];
        new Random(5).nextBytes(content);
        System.arraycopy(content, 0, content, 6_000, 5_000);
        ByteArrayOutputStream to = new ByteArrayOutputStream();
        try (OutputStream out = switch (how) {
            case GZIP -> new GZIPOutputStream(to);
            case XZ -> new XZOutputStream(to, new LZMA2Options(1));
            case ZSTD -> new ZstdOutputStream(to);
            case NONE -> to;
        }) {
            out.write(content);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return to.toByteArray();
    }

    private static ParserFuzz unpacking(Compression how) {
        return ParserFuzz.of(
                "tars in " + how,
                List.of(compressed(how)),
                bytes -> unpack(bytes),
                IOException.class,
                DriverException.InvalidRequest.class);
    }

    private static void unpack(byte[] bytes) throws IOException {
        try (InputStream tar = Compression.of(bytes).open(new ByteArrayInputStream(bytes))) {
            byte[] buffer = new byte[1 << 16];
            int all = 0;
            for (int read = tar.read(buffer); read >= 0 && all < MOST_UNPACKED_BYTES; read = tar.read(buffer)) {
                all += read;
            }
        }
    }

    @Test
    void gzip() {
        unpacking(Compression.GZIP).run();
    }

    /// It may claim a dictionary of 160 MiB, and gets it.
    @Test
    void xz() {
        unpacking(Compression.XZ).allocating(170 << 20).run();
    }

    /// It may claim a window of 8 MiB, and gets it, in buffers that double.
    @Test
    void zstd() {
        unpacking(Compression.ZSTD).allocating(64 << 20).run();
    }
}
