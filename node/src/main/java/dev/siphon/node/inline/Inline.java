package dev.siphon.node.inline;

/// What it takes to show datasets to pods that name them.
///
/// @param volumes those of this node
/// @param datasets knows what is in them
public record Inline(InlineVolumes volumes, InlineDatasets datasets) {}
