package dev.siphon.controller.key;

import dev.siphon.csi.DriverException;
import java.util.Optional;

/// What the identity of a volume or dataset may do, and nothing else (lab facts in docs/adr/0009).
///
/// @param fileSystem the volume's file system
/// @param readablePath the directory that nodes mount. For a volume it is the account's group, because only then
///     does the kernel enforce the account's quota; the identity sees names and sizes there, but reads no file of
///     another volume. For a dataset it is the dataset's directory
/// @param writable the data directory, absolute in the file system; empty for what can only be read
/// @param pool the data pool of the volume's objects
/// @param namespace the volume's RADOS namespace in that pool. It is read from the layout and never composed,
///     because Ceph releases name it differently
public record VolumeCaps(
        String fileSystem, String readablePath, Optional<String> writable, String pool, String namespace) {
    /// Rejects an empty namespace: caps select objects by pool and namespace, so the key would open every volume
    /// of the pool.
    ///
    /// @throws DriverException.BackendFault (INTERNAL) if there is no namespace
    public VolumeCaps {
        if (namespace.isEmpty()) {
            throw new DriverException.BackendFault(
                    "a grant without a RADOS namespace would open the whole pool " + pool);
        }
    }
}
