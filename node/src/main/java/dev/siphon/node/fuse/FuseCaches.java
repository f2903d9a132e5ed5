package dev.siphon.node.fuse;

import dev.siphon.csi.ByteSize;
import java.util.List;

/// What each ceph-fuse may keep in memory ("CephFS Client Configuration"). In a container with a memory
/// limit it has to stay well below that: buffers of what is on its way come on top.
///
/// @param dataBytes of files' contents (`client_oc_size`); half of it may wait to be written
/// @param inodes of files and directories that nobody has open (`client_cache_size`)
public record FuseCaches(long dataBytes, int inodes) {
    /// A write of the kernel's is 1 MiB at most, and several are on their way at once.
    private static final long LEAST_BYTES = 16 << 20;

    private static final int LEAST_INODES = 100;

    /// What has waited is written from here on; 8 MiB is Ceph's own.
    private static final long TARGET_BYTES = 8 << 20;

    public FuseCaches {
        if (dataBytes < LEAST_BYTES) {
            throw new IllegalArgumentException(
                    "must be at least " + ByteSize.text(LEAST_BYTES) + ", not " + ByteSize.text(dataBytes));
        }
        if (inodes < LEAST_INODES) {
            throw new IllegalArgumentException("must be at least " + LEAST_INODES + " inodes, not " + inodes);
        }
    }

    /// 128 MiB, where Ceph has 200, and as many inodes as Ceph.
    public static FuseCaches usual() {
        return new FuseCaches(128 << 20, 16_384);
    }

    /// For ceph-fuse.
    public List<String> arguments() {
        return List.of(
                "--client_oc_size=" + dataBytes,
                "--client_oc_max_dirty=" + dataBytes / 2,
                "--client_oc_target_dirty=" + Math.min(TARGET_BYTES, dataBytes / 4),
                "--client_cache_size=" + inodes);
    }
}
