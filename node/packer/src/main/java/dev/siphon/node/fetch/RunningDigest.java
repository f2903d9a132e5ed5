package dev.siphon.node.fetch;

import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// Computes a SHA-256 digest incrementally.
public final class RunningDigest {
    private final MessageDigest sha256;

    public RunningDigest() {
        try {
            sha256 = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /// Adds the remaining `bytes`.
    public void add(ByteBuffer bytes) {
        sha256.update(bytes);
    }

    /// Returns the digest of everything added so far; more may follow.
    public Digest sofar() {
        try {
            return new Digest(HexFormat.of().formatHex(((MessageDigest) sha256.clone()).digest()));
        } catch (CloneNotSupportedException e) {
            throw new IllegalStateException("the JDK's SHA-256 can be cloned", e);
        }
    }
}
