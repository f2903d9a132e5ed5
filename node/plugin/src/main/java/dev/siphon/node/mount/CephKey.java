package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;

/// A cephx secret key, in the text form that `ceph auth get-key` prints. Only [#reveal] exposes it.
public final class CephKey {
    /// Octets before the secret: type (2), time of creation (8), length of the secret (2).
    private static final int HEADER_BYTES = 12;

    private static final int LENGTH_OFFSET = 10;

    private final String text;
    private final Kind kind;

    /// The cipher of a key: `CEPH_CRYPTO_*` of Ceph's `ceph_fs.h`.
    public enum Kind {
        AES(1, 16),
        /// The default of Ceph 20. Kernels have it since 7.0; some distributions brought it to earlier ones.
        AES256K(2, 32);

        private final int code;
        private final int secretBytes;

        Kind(int code, int secretBytes) {
            this.code = code;
            this.secretBytes = secretBytes;
        }

        /// Parses Ceph's name of a kind.
        ///
        /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if no kind has that name
        public static Kind parse(String text) {
            return Arrays.stream(values())
                    .filter(kind -> kind.toString().equals(text))
                    .findFirst()
                    .orElseThrow(() -> new DriverException.InvalidRequest(
                            QuotedText.of(text) + " must be one of " + List.of(values())));
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private CephKey(String text, Kind kind) {
        this.text = text;
        this.kind = kind;
    }

    /// Parses a key.
    ///
    /// @param field the source of the key, for the error message; the message never holds the key
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `text` is not a cephx key
    public static CephKey parse(String field, String text) {
        byte[] octets = decode(field, text);
        if (octets.length > HEADER_BYTES) {
            ByteBuffer key = ByteBuffer.wrap(octets).order(ByteOrder.LITTLE_ENDIAN);
            for (Kind kind : Kind.values()) {
                if (key.getShort(0) == kind.code
                        && key.getShort(LENGTH_OFFSET) == kind.secretBytes
                        && octets.length == HEADER_BYTES + kind.secretBytes) {
                    return new CephKey(text, kind);
                }
            }
        }
        throw malformed(field);
    }

    /// Returns a key of that kind which opens nothing, to find out who takes such keys.
    public static CephKey madeUp(Kind kind) {
        return madeUp(kind, kind.secretBytes);
    }

    /// Returns a key that says it is of that kind, with a secret no longer than that of `aes`. It opens nothing either.
    public static CephKey madeUpShort(Kind kind) {
        return madeUp(kind, Kind.AES.secretBytes);
    }

    private static CephKey madeUp(Kind kind, int secretBytes) {
        ByteBuffer key = ByteBuffer.allocate(HEADER_BYTES + secretBytes).order(ByteOrder.LITTLE_ENDIAN);
        key.putShort(0, (short) kind.code).putShort(LENGTH_OFFSET, (short) secretBytes);
        return new CephKey(Base64.getEncoder().encodeToString(key.array()), kind);
    }

    private static byte[] decode(String field, String text) {
        try {
            return Base64.getDecoder().decode(text);
        } catch (IllegalArgumentException _) {
            // the exception's message may quote a part of the key
            throw malformed(field);
        }
    }

    private static DriverException malformed(String field) {
        return new DriverException.InvalidRequest(
                field + " is not a cephx key (base64, as `ceph auth get-key` prints it)");
    }

    public Kind kind() {
        return kind;
    }

    /// Returns the key in plain text. Only mounters may call this.
    public String reveal() {
        return text;
    }

    @Override
    public String toString() {
        return "***";
    }
}
