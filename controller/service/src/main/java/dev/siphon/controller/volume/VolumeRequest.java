package dev.siphon.controller.volume;

import java.util.Optional;

/// A request for a volume.
///
/// @param name the caller's name for it, by which a retry finds it
/// @param capacity the accepted sizes
/// @param parameters the class, with the VolumeAttributesClass already merged in
/// @param readOnly whether every requested access mode only reads
/// @param source the source of its contents; empty for none
public record VolumeRequest(
        String name, CapacityRange capacity, VolumeClass parameters, boolean readOnly, Optional<ContentSource> source) {
    /// Returns the same request without a source.
    public VolumeRequest withoutSource() {
        return new VolumeRequest(name, capacity, parameters, readOnly, Optional.empty());
    }

    /// Returns whether the volume may show a dataset: nobody can write to one, so a class must name it, or the
    /// request must only read.
    boolean mayShowDataset() {
        return readOnly || parameters.dataset().isPresent();
    }
}
