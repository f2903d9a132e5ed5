package dev.siphon.node.topology;

/// A part of an NVIDIA GPU (Multi-Instance GPU) that is given to pods as a device of its own.
///
/// @param uuid such as `MIG-c7384736-a75d-5afc-978f-d2f1294409fd`
/// @param parent the GPU that it is a part of
public record MigDevice(String uuid, PciAddress parent) {}
