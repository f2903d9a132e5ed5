package dev.siphon.node.fetch;

import java.time.Instant;

/// An object, as a list has it.
///
/// @param tag its version, with quotes
/// @param bytes its size
public record BucketObject(String key, String tag, long bytes, Instant modified) {}
