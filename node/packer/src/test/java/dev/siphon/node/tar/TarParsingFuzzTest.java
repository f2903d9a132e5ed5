package dev.siphon.node.tar;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.fuzz.ParserFuzz;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorOutputStream;
import org.junit.jupiter.api.Test;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

/// Fuzzes tars from any source, compressed or not.
final class TarParsingFuzzTest {
    /// Stops reading a stream here; the packer writes it to disk with a limit of its own.
    private static final int MOST_UNPACKED_BYTES = 4 << 20;

    private static void scan(byte[] tar) {
        TarScanner scanner = new TarScanner(new InMemory(tar));
        for (Optional<TarMember> next = scanner.next(); next.isPresent(); next = scanner.next()) {
            var _ = TarPath.parts(next.get().path(), 1, next.get().offset());
            var _ = TarPath.quoted(next.get().link());
        }
    }

    @Test
    void damagedTars() {
        ParserFuzz.of("tars", Tars.valid(), TarParsingFuzzTest::scan, DriverException.InvalidRequest.class)
                .run();
    }

    /// Corrects the checksum of each block that might be a header, so that mutations get past this check.
    @Test
    void tarsWithRightChecksums() {
        ParserFuzz.of(
                        "tars with checksums",
                        Tars.valid(),
                        bytes -> scan(Tars.withChecksums(bytes)),
                        DriverException.InvalidRequest.class)
                .run();
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
            case BZIP2 -> new BZip2CompressorOutputStream(to);
            case GZIP -> new GZIPOutputStream(to);
            case XZ -> new XZOutputStream(to, new LZMA2Options(1));
            case ZSTD -> new ZstdOutputStreamNoFinalizer(to);
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

    /// A block of 900,000 bytes takes 4.5 MB of tables.
    @Test
    void bzip2() {
        unpacking(Compression.BZIP2).allocating(16 << 20).run();
    }

    @Test
    void gzip() {
        unpacking(Compression.GZIP).run();
    }

    /// A stream may request a dictionary of 160 MiB, and gets it.
    @Test
    void xz() {
        unpacking(Compression.XZ).allocating(170 << 20).run();
    }

    /// A stream may request a window of 128 MiB, and gets it, outside the heap.
    @Test
    void zstd() {
        unpacking(Compression.ZSTD).run();
    }
}
