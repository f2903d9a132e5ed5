package dev.siphon.controller.warm;

import java.util.List;

/// Where the scheduler puts a pod whose gate has opened.
///
/// @param hostnames the nodes that have its datasets; empty for anywhere
/// @param isRequired whether it may run nowhere else; otherwise the scheduler prefers these nodes
public record PodPlacement(List<String> hostnames, boolean isRequired) {
    /// Any node.
    public static final PodPlacement ANYWHERE = new PodPlacement(List.of(), false);

    public PodPlacement {
        hostnames = List.copyOf(hostnames);
    }
}
