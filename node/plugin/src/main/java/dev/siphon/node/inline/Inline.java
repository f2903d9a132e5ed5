package dev.siphon.node.inline;

/// The services for inline volumes with datasets.
///
/// @param volumes the inline volumes of this node
/// @param datasets resolves the datasets that pods name
/// @param offline shows datasets while nobody resolves them
public record Inline(InlineVolumes volumes, InlineDatasets datasets, OfflineDatasets offline) {}
