package dev.siphon.node.tar;

import dev.siphon.csi.DriverException;
import io.airlift.compress.MalformedInputException;
import io.airlift.compress.zstd.ZstdInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;
import org.tukaani.xz.XZInputStream;

/// The compression of a tar, detected by its first bytes.
public enum Compression {
    NONE {
        @Override
        public InputStream open(InputStream compressed) {
            return compressed;
        }
    },
    GZIP {
        @Override
        public InputStream open(InputStream compressed) throws IOException {
            return new GZIPInputStream(compressed, BUFFER_BYTES);
        }
    },
    BZIP2 {
        @Override
        public InputStream open(InputStream compressed) throws IOException {
            return new BZip2CompressorInputStream(compressed, true);
        }
    },
    XZ {
        @Override
        public InputStream open(InputStream compressed) throws IOException {
            return new XZInputStream(compressed, XZ_MEMORY_KIB);
        }
    },
    /// Windows up to 8 MiB, the maximum of zstd without `--long` or `--ultra`.
    ZSTD {
        @Override
        public InputStream open(InputStream compressed) {
            return new Zstd(compressed);
        }
    };

    /// How many bytes [#of] needs.
    public static final int MAGIC_BYTES = 6;

    private static final int BUFFER_BYTES = 64 * 1024;
    /// `xz -9` needs 65 MiB; the packer has at least 320 MiB.
    private static final int XZ_MEMORY_KIB = 160 * 1024;

    /// @param first the file's first [#MAGIC_BYTES], or fewer if it is shorter
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for a known format that is not supported
    public static Compression of(byte[] first) {
        if (begins(first, 0x1f, 0x8b)) {
            return GZIP;
        }
        if (begins(first, 'B', 'Z', 'h')) {
            return BZIP2;
        }
        if (begins(first, 0xfd, '7', 'z', 'X', 'Z', 0)) {
            return XZ;
        }
        if (begins(first, 0x28, 0xb5, 0x2f, 0xfd)) {
            return ZSTD;
        }
        if (begins(first, 'P', 'K', 3, 4) || begins(first, '7', 'z', 0xbc, 0xaf)) {
            throw new DriverException.InvalidRequest(
                    "the source is compressed by zip or 7z: make a tar of it, plain or with bzip2, gzip, xz or zstd");
        }
        return NONE;
    }

    private static boolean begins(byte[] first, int... magic) {
        for (int i = 0; i < magic.length; i++) {
            if (i >= first.length || Byte.toUnsignedInt(first[i]) != magic[i]) {
                return false;
            }
        }
        return true;
    }

    /// Returns the decompressed stream. Concatenated streams are read as one.
    ///
    /// @throws IOException if the data is damaged; reading the returned stream throws it too
    public abstract InputStream open(InputStream compressed) throws IOException;

    /// Reports damage as an IOException.
    private static final class Zstd extends FilterInputStream {
        Zstd(InputStream compressed) {
            super(new ZstdInputStream(compressed));
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            try {
                return super.read(target, offset, length);
            } catch (MalformedInputException
                    | ArithmeticException
                    | IllegalStateException
                    | IndexOutOfBoundsException e) {
                // the decoder leaves some checks to the JVM
                throw new IOException(String.valueOf(e.getMessage()), e);
            }
        }
    }
}
