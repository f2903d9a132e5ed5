package dev.siphon.node.topology;

import java.util.Optional;

/// A disk, or an NVMe controller.
///
/// @param name the kernel's name (`nvme0n1`)
/// @param path its location; empty for a disk without a PCI device, such as a network disk
public record StorageDevice(String name, Optional<PciPath> path) {}
