package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest.ResolvedVolumeSpec;
import dev.siphon.controller.volume.Volumes.Volume;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/// An empty volume, usable as soon as its subvolume exists.
final class PlainKind extends StoredKind {
    /// The mode of an empty volume whose file limit is not set yet: the sticky bit without any
    /// permission, which no class can request ([ClassParameters]). It denies all access, and costs no
    /// round trip to a mon or mgr. An owner can set it on a complete volume too. Completing that volume
    /// again changes no file, so never remove a volume for its mode.
    static final int UNFINISHED = 01000;

    PlainKind(Parts parts) {
        super(parts);
    }

    @Override
    String subvolume(SubvolumeGroup group, VolumeRequest request) {
        return CephNames.plain(group, request.name());
    }

    @Override
    Volume make(ResolvedVolumeSpec requested, Optional<Subvolume> existing) {
        long size;
        if (existing.isPresent()) {
            size = parts.existingCheck().size(requested, existing.get());
            if (requested.parameters().overcommit()) {
                // an earlier try may have stopped before this
                parts.provisioner().noteOvercommit(requested.id());
            }
            if (existing.get().mode() == UNFINISHED) {
                complete(requested, existing.get());
            } else {
                parts.existingCheck().checkChangeable(requested, existing.get());
            }
        } else {
            size = requested.capacity().resolveSize(OptionalLong.empty());
            if (requested.parameters().changeable().quotaFiles().isPresent()) {
                parts.provisioner().make(requested, OptionalLong.of(size), UNFINISHED);
                complete(requested, parts.cleanup().mustFind(requested.id()));
            } else {
                parts.provisioner().make(requested, OptionalLong.of(size), requested.mode());
            }
        }
        return made(requested, size, context(requested, requested.id().subvolume(), false));
    }

    /// Sets the file limit, and then the mode that marks the volume complete.
    private void complete(ResolvedVolumeSpec requested, Subvolume made) {
        OptionalLong limit = requested.parameters().changeable().quotaFiles();
        parts.provisioner().apply(requested.id(), made, new MutableParameters(limit, OptionalInt.of(requested.mode())));
    }
}
