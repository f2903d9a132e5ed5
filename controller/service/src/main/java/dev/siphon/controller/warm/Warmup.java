package dev.siphon.controller.warm;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/// A dataset that an administrator wants on nodes' disks ahead of time.
///
/// @param name the object's name
/// @param dataset the dataset, as written there
/// @param selector labels of the nodes; empty for all nodes
/// @param until when it expires; empty if never
/// @param said the object's current status
public record Warmup(
        String name, String dataset, Map<String, String> selector, Optional<Instant> until, Optional<Status> said) {
    public Warmup {
        selector = Map.copyOf(selector);
    }

    /// @param nodes number of nodes that should have it
    /// @param local number of nodes that have it
    /// @param message why some do not
    public record Status(int nodes, int local, String message) {}
}
