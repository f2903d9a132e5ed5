package dev.siphon.node.topology;

import java.util.Optional;
import java.util.OptionalInt;

/// A GPU of the machine.
///
/// @param path where it is
/// @param model as its driver names it
/// @param uuid how device plugins name it: NVIDIA's `GPU-...`, AMD's `unique_id`; empty without a driver
/// @param minor NVIDIA's number of its device node (`/dev/nvidia0`)
public record Gpu(PciPath path, GpuVendor vendor, Optional<String> model, Optional<String> uuid, OptionalInt minor) {
    /// Its PCI address.
    public PciAddress address() {
        return path.address();
    }
}
