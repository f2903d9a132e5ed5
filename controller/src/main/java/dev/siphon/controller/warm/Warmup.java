package dev.siphon.controller.warm;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/// Where an administrator wants a dataset to be ahead of time.
///
/// @param name of the object
/// @param dataset as it is written there
/// @param selector labels of the nodes; none for all
/// @param until when it is wanted no more; empty for as long as the object is there
/// @param said what its status says
public record Warmup(
        String name, String dataset, Map<String, String> selector, Optional<Instant> until, Optional<Status> said) {
    public Warmup {
        selector = Map.copyOf(selector);
    }

    /// @param nodes on how many it is wanted
    /// @param local on how many it is
    /// @param message why not
    public record Status(int nodes, int local, String message) {}
}
