package dev.siphon.node.topology;

/// A part of an NVIDIA GPU (Multi-Instance GPU), allocated to pods as its own device.
///
/// @param uuid such as `MIG-c7384736-a75d-5afc-978f-d2f1294409fd`
/// @param parent the address of its GPU
public record MigDevice(String uuid, PciAddress parent) {}
