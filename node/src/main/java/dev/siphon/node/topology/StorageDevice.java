package dev.siphon.node.topology;

import java.util.Optional;

/// A disk, or an NVMe controller.
///
/// @param name as the kernel names it (`nvme0n1`)
/// @param path where it is; empty for one without a PCI device, such as a network's
public record StorageDevice(String name, Optional<PciPath> path) {}
