package dev.siphon.node.tar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

final class CompressionTest {
    private static final int TIMES = 3000;
    private static final int CONTENT_BYTES = 50_000;

    private static byte[] compressed(Compression how) throws IOException {
        byte[] content = new byte[CONTENT_BYTES];
        new Random(5).nextBytes(content);
        System.arraycopy(content, 0, content, 10_000, 9_000);
        System.arraycopy(content, 300, content, 30_000, 9_000);
        ByteArrayOutputStream to = new ByteArrayOutputStream();
        try (OutputStream out = switch (how) {
            case BZIP2 -> new BZip2CompressorOutputStream(to);
            case GZIP -> new GZIPOutputStream(to);
            case XZ -> new XZOutputStream(to, new LZMA2Options(1));
            case ZSTD -> new ZstdOutputStreamNoFinalizer(to);
            case NONE -> to;
        }) {
            out.write(content);
        }
        return to.toByteArray();
    }

    @ParameterizedTest
    @EnumSource(
            value = Compression.class,
            names = {"BZIP2", "GZIP", "XZ", "ZSTD"})
    void whatIsDamagedIsSaidInOneWay(Compression how) throws IOException {
        byte[] good = compressed(how);
        Random random = new Random(1);
        int damaged = 0;
        for (int i = 0; i < TIMES; i++) {
            byte[] bad = Arrays.copyOf(good, good.length - random.nextInt(2) * random.nextInt(good.length));
            for (int j = random.nextInt(8); j >= 0; j--) {
                int most = random.nextInt(3) == 0 ? Math.min(60, bad.length) : bad.length;
                bad[random.nextInt(most)] = (byte) random.nextInt(256);
            }
            try (InputStream read = how.open(new ByteArrayInputStream(bad))) {
                read.transferTo(OutputStream.nullOutputStream());
            } catch (IOException e) {
                damaged++;
            }
        }
        assertTrue(damaged > TIMES / 2, damaged + " were seen");
    }

    /// pbzip2 and others that use several cores write a stream for each block.
    @ParameterizedTest
    @EnumSource(
            value = Compression.class,
            names = {"BZIP2", "GZIP", "XZ", "ZSTD"})
    void concatenatedStreamsAreReadAsOne(Compression how) throws IOException {
        byte[] good = compressed(how);
        ByteArrayOutputStream twice = new ByteArrayOutputStream();
        twice.writeBytes(good);
        twice.writeBytes(good);
        byte[] bytes = twice.toByteArray();
        assertEquals(how, Compression.of(bytes));
        try (InputStream read = how.open(new ByteArrayInputStream(bytes))) {
            assertEquals(2 * CONTENT_BYTES, read.transferTo(OutputStream.nullOutputStream()));
        }
    }

    /// The window of `zstd --long` and of `zstd --ultra -22`.
    @Test
    void aZstdWindowMayHave128MiB() throws IOException {
        byte[] bytes = zstd(27);
        try (InputStream read = Compression.ZSTD.open(new ByteArrayInputStream(bytes))) {
            assertEquals("abc", new String(read.readAllBytes(), StandardCharsets.US_ASCII));
        }
    }

    @Test
    void aLargerZstdWindowIsRefused() throws IOException {
        byte[] bytes = zstd(28);
        try (InputStream read = Compression.ZSTD.open(new ByteArrayInputStream(bytes))) {
            IOException refused =
                    assertThrows(IOException.class, () -> read.transferTo(OutputStream.nullOutputStream()));
            assertEquals(
                    "a zstd window over 128 MiB: compress it again, with `zstd --long=27` at most",
                    refused.getMessage());
        }
    }

    /// Returns a frame of one raw block (RFC 8878, 3.1.1).
    private static byte[] zstd(int windowLog) {
        return new byte[] {
            0x28, (byte) 0xb5, 0x2f, (byte) 0xfd, 0, (byte) ((windowLog - 10) << 3), 3 << 3 | 1, 0, 0, 'a', 'b', 'c'
        };
    }

    /// Eight bytes of size, which the decoder reads as a negative number (RFC 8878, 3.1.1.1).
    @Test
    void aFrameOfMoreThanALongIsDamaged() throws IOException {
        byte[] frame = {0x28, (byte) 0xb5, 0x2f, (byte) 0xfd, (byte) 0xe0, 0, 0, 0, 0, 0, 0, 0, (byte) 0xd5, 1, 0, 0};
        try (InputStream read = Compression.ZSTD.open(new ByteArrayInputStream(frame))) {
            assertThrows(IOException.class, () -> read.transferTo(OutputStream.nullOutputStream()));
        }
    }
}
