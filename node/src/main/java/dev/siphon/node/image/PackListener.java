package dev.siphon.node.image;

import java.util.List;

/// Hears how far the packer is. Called by many threads.
public interface PackListener {
    /// So many `entries` have been found so far.
    void walked(long entries);

    /// Sockets, FIFOs and devices, which are not in the image.
    ///
    /// @param count how many there are
    /// @param first the first of them by name, quoted
    void leftOut(long count, List<String> first);

    /// So many bytes of the image are there.
    ///
    /// @param done in bytes, of which those that an earlier run left are a part
    /// @param all in bytes
    void packed(long done, long all);
}
