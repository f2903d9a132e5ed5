package dev.siphon.node.image;

import java.util.List;

/// Receives the packer's progress. Called by many threads.
public interface PackListener {
    /// Reports how many `entries` have been found so far.
    void walked(long entries);

    /// Reports sockets, FIFOs and devices, which are not packed.
    ///
    /// @param count how many there are
    /// @param first the first of them by name, quoted
    void leftOut(long count, List<String> first);

    /// Reports how much of the image is complete.
    ///
    /// @param done in bytes, including those of earlier runs
    /// @param all in bytes
    void packed(long done, long all);
}
