package dev.siphon.controller.volume;

import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.Optional;

/// A volume as callers see it.
///
/// @param capacityBytes its size; 0 for no limit or unknown
/// @param context what a node needs; empty in listings
/// @param source the source of its contents; empty for none or unknown
public record Volume(
        VolumeId id, long capacityBytes, Optional<VolumeContext> context, Optional<ContentSource> source) {}
