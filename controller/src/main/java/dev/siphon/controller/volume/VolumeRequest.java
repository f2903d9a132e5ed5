package dev.siphon.controller.volume;

import java.util.Optional;

/// A volume that a caller wants.
///
/// @param name the caller's name for it, which makes retries find it
/// @param capacity the sizes that fit
/// @param parameters of the class, with what a VolumeAttributesClass says already merged in
/// @param readOnly whether every access mode asked for only reads
/// @param source what its contents are to come from
public record VolumeRequest(
        String name, CapacityRange capacity, VolumeClass parameters, boolean readOnly, Optional<ContentSource> source) {
    /// The same for a volume with contents of another kind.
    public VolumeRequest withoutSource() {
        return new VolumeRequest(name, capacity, parameters, readOnly, Optional.empty());
    }
}
