package dev.siphon.controller.key;

import dev.siphon.csi.KernelKeys;
import java.util.List;
import java.util.Optional;

/// Port: what the kernels of nodes can use, as the nodes say.
@FunctionalInterface
public interface NodeKernels {
    /// A node on which Siphon runs.
    ///
    /// @param keys empty if it has not said, as while it starts
    record NodeKernel(String node, Optional<KernelKeys> keys) {}

    /// Returns all such nodes; none if they are run elsewhere.
    ///
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if nobody can tell now
    List<NodeKernel> all();
}
