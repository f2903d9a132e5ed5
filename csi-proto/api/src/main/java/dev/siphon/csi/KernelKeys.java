package dev.siphon.csi;

import java.util.Arrays;
import java.util.Optional;

/// The types of cephx keys that a node's kernel can mount with, in the words that `siphon check kernel` prints. The
/// kubelet copies them into the status of the node's pod, where the controller reads them.
public enum KernelKeys {
    BOTH("aes aes256k"),
    ONLY_AES("aes"),
    /// It has no CephFS: ceph-fuse mounts with keys of any type.
    NONE("none");

    private final String words;

    KernelKeys(String words) {
        this.words = words;
    }

    /// Parses the words; empty if they are others, such as those of another version.
    public static Optional<KernelKeys> parse(String words) {
        return Arrays.stream(values())
                .filter(each -> each.words.equals(words.strip()))
                .findFirst();
    }

    /// Returns the words.
    @Override
    public String toString() {
        return words;
    }
}
