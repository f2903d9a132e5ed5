package dev.siphon.node.fuse;

import dev.siphon.csi.ByteSize;
import java.util.List;

/// The cache limits of each ceph-fuse ("CephFS Client Configuration"). In a container the memory limit must be well
/// above them, because buffers of data in flight come on top.
///
/// @param dataBytes of files' contents (`client_oc_size`); half of it may be dirty
/// @param inodes of files and directories that nobody has open (`client_cache_size`)
public record FuseCaches(long dataBytes, int inodes) {
    /// The kernel writes at most 1 MiB at once, and several writes are in flight.
    private static final long LEAST_BYTES = 16 << 20;

    private static final int LEAST_INODES = 100;

    /// Dirty data is written from this amount on; 8 MiB is Ceph's default.
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

    /// Returns the defaults: 128 MiB, where Ceph has 200 MiB, and Ceph's number of inodes.
    public static FuseCaches usual() {
        return new FuseCaches(128 << 20, 16_384);
    }

    /// Returns the arguments for ceph-fuse.
    public List<String> arguments() {
        return List.of(
                "--client_oc_size=" + dataBytes,
                "--client_oc_max_dirty=" + dataBytes / 2,
                "--client_oc_target_dirty=" + Math.min(TARGET_BYTES, dataBytes / 4),
                "--client_cache_size=" + inodes);
    }
}
