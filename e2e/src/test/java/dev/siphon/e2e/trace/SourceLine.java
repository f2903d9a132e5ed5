package dev.siphon.e2e.trace;

/// A line of Siphon's source.
///
/// @param file below a source folder: `dev/siphon/csi/VolumeId.java`
record SourceLine(String file, int number) {}
