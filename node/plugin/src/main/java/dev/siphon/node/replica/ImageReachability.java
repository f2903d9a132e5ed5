package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.node.mount.BlockingCalls;

/// Determines whether the node can read an image to copy it to a disk. Only an attached dataset keeps its image's
/// CephFS mount.
///
/// @param calls runs the calls that may hang with the image's file system
record ImageReachability(ReplicaSettings settings, BlockingCalls calls) {
    /// Returns the image, after reading its manifest if the dataset is not attached.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the node cannot reach it, or has no cache directory
    DatasetImage image(DatasetState state) {
        if (settings.caches().isEmpty()) {
            throw new DriverException.InUse("this node has no cache directory; give it one with --cache-dir");
        }
        DatasetImage image =
                state.known().image().orElseThrow(() -> unreachable(state, "it was not attached here before"));
        if (!state.known().isAttached()) {
            try {
                String name = "manifest of " + state.digest();
                var _ = calls.check(name, name, settings.pace().callLimit(), image::readOutline);
            } catch (DriverException.BackendUnavailable e) {
                throw unreachable(state, e.getMessage());
            }
        }
        return image;
    }

    private static DriverException unreachable(DatasetState state, String why) {
        return new DriverException.InUse("dataset " + state.digest() + " is not attached, and the node cannot reach its"
                + " image by itself: start a pod that uses it here, which warms it too (" + why + ")");
    }
}
