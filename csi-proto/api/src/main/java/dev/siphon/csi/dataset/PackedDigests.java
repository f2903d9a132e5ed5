package dev.siphon.csi.dataset;

import java.util.AbstractList;
import java.util.HexFormat;
import java.util.List;
import java.util.RandomAccess;

/// Stores digests in 32 bytes each. A list of objects takes about 130, and an image of a terabyte has 262,144
/// chunks.
final class PackedDigests extends AbstractList<Digest> implements RandomAccess {
    private final byte[] bytes;

    private PackedDigests(byte[] bytes) {
        this.bytes = bytes;
    }

    /// @param bytes the digests one after another; the caller must not change them afterwards
    static List<Digest> over(byte[] bytes) {
        return new PackedDigests(bytes);
    }

    static List<Digest> copyOf(List<Digest> digests) {
        if (digests instanceof PackedDigests) {
            return digests;
        }
        byte[] bytes = new byte[Math.multiplyExact(digests.size(), Digest.BYTES)];
        int at = 0;
        for (Digest digest : digests) {
            System.arraycopy(HexFormat.of().parseHex(digest.hex()), 0, bytes, at, Digest.BYTES);
            at += Digest.BYTES;
        }
        return new PackedDigests(bytes);
    }

    @Override
    public Digest get(int index) {
        return Digest.read(bytes, index * Digest.BYTES);
    }

    @Override
    public int size() {
        return bytes.length / Digest.BYTES;
    }
}
