package dev.siphon.controller.key;

import dev.siphon.csi.DriverException;
import java.util.Optional;

/// What a volume's identity may do, and nothing else (lab facts in docs/adr/0009).
///
/// @param fileSystem the file system the volume is in
/// @param groupPath the account's group, which is mounted, since the kernel keeps an account's quota only
///     so; seen by name and size, readable nowhere
/// @param writable the data directory, absolute in the file system; empty for a volume that can only be
///     read
/// @param pool the data pool of the volume's objects
/// @param namespace the volume's RADOS namespace in that pool, as read from its layout; never composed,
///     since releases differ in how they name it
public record VolumeCaps(
        String fileSystem, String groupPath, Optional<String> writable, String pool, String namespace) {
    /// Caps bind objects by pool and namespace, so a volume without a namespace of its own would open
    /// everybody's.
    ///
    /// @throws DriverException.BackendFault (INTERNAL) if there is no namespace
    public VolumeCaps {
        if (namespace.isEmpty()) {
            throw new DriverException.BackendFault(
                    "a grant without a RADOS namespace would open the whole pool " + pool);
        }
    }
}
