package dev.siphon.controller.volume;

import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.Optional;

/// A volume as callers see it.
///
/// @param capacityBytes its size; 0 where it has no limit or is not known
/// @param context what a node needs; empty in listings
/// @param source what its contents came from
public record Volume(
        VolumeId id, long capacityBytes, Optional<VolumeContext> context, Optional<ContentSource> source) {}
