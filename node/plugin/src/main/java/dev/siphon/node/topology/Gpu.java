package dev.siphon.node.topology;

import java.util.Optional;
import java.util.OptionalInt;

/// A GPU of the machine.
///
/// @param path its location
/// @param model the driver's name for it
/// @param uuid the device plugins' name for it: NVIDIA's `GPU-...`, AMD's `unique_id`; empty without a driver
/// @param minor NVIDIA's number of its device node (`/dev/nvidia0`)
public record Gpu(PciPath path, GpuVendor vendor, Optional<String> model, Optional<String> uuid, OptionalInt minor) {
    /// Returns its PCI address.
    public PciAddress address() {
        return path.address();
    }
}
