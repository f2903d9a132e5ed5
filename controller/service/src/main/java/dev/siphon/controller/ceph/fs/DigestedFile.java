package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.volume.FileTree.Digested;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// Reads a file to its end, piece by piece: it may be larger than this process's memory.
final class DigestedFile {
    private static final int PIECE_BYTES = 1 << 16;

    /// About the length of the largest image's manifest: 65 bytes for each 4 MiB of 16 TiB.
    private static final long MOST_BYTES = 300L << 20;

    private DigestedFile() {}

    static Digested read(OpenFile file) {
        MessageDigest sha256 = sha256();
        String beginning = "";
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment piece = arena.allocate(PIECE_BYTES);
            long done = 0;
            for (int read = file.read(piece, 0); read > 0; read = file.read(piece, done)) {
                byte[] bytes = piece.asSlice(0, read).toArray(ValueLayout.JAVA_BYTE);
                if (done == 0) {
                    int length = Math.min(read, Digested.BEGINNING_BYTES);
                    beginning = new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
                }
                sha256.update(bytes);
                done += read;
                if (done > MOST_BYTES) {
                    throw new DriverException.InUse(
                            "a file is too long for a manifest: more than " + MOST_BYTES + " bytes");
                }
            }
        }
        return new Digested(new Digest(HexFormat.of().formatHex(sha256.digest())), beginning);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every Java platform has SHA-256", missing);
        }
    }
}
