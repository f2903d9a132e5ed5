package dev.siphon.node.tar;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdIOException;
import com.github.luben.zstd.ZstdInputStreamNoFinalizer;
import dev.siphon.csi.DriverException;
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
    /// Windows up to 128 MiB, as `zstd -d` takes them; they are outside the heap.
    ZSTD {
        @Override
        public InputStream open(InputStream compressed) throws IOException {
            return new BoundedWindow(new ZstdInputStreamNoFinalizer(compressed)
                    .setLongMax(ZSTD_WINDOW_LOG)
                    .setContinuous(false));
        }
    };

    /// How many bytes [#of] needs.
    public static final int MAGIC_BYTES = 6;

    private static final int BUFFER_BYTES = 64 * 1024;
    /// `xz -9` needs 65 MiB; the packer has at least 320 MiB.
    private static final int XZ_MEMORY_KIB = 160 * 1024;

    private static final int ZSTD_WINDOW_LOG = 27;

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

    /// Says what to do about a window that is too large.
    private static final class BoundedWindow extends FilterInputStream {
        BoundedWindow(InputStream decompressed) {
            super(decompressed);
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            try {
                return super.read(target, offset, length);
            } catch (ZstdIOException e) {
                if (e.getErrorCode() == Zstd.errFrameParameterWindowTooLarge()) {
                    throw new IOException(
                            "a zstd window over 128 MiB: compress it again, with `zstd --long=27` at most", e);
                }
                throw e;
            }
        }
    }
}
