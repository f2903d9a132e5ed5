package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest.ResolvedVolumeSpec;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;

/// Decides whether an existing volume matches a request for its name (CSI v1.13, CreateVolume).
final class ExistingVolumeCheck {
    private final FileTree files;

    ExistingVolumeCheck(FileTree files) {
        this.files = files;
    }

    /// Returns the existing volume's size in bytes, if size, owner and pool match the request.
    ///
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if one differs
    long size(ResolvedVolumeSpec requested, Subvolume found) {
        long size = found.quotaBytes().orElse(0);
        if (!requested.capacity().accepts(size)) {
            throw new DriverException.IncompatibleExisting(
                    exists(requested) + " with " + size + " bytes, which capacity_range does not accept");
        }
        checkPlace(requested, found);
        return size;
    }

    private static void checkPlace(ResolvedVolumeSpec requested, Subvolume found) {
        String exists = exists(requested);
        if (found.uid() != requested.owner().uid()
                || found.gid() != requested.owner().gid()) {
            throw new DriverException.IncompatibleExisting(
                    exists + " with owner " + found.uid() + ":" + found.gid() + ", not "
                            + requested.owner().uid() + ":" + requested.owner().gid());
        }
        if (requested
                .parameters()
                .dataPool()
                .filter(pool -> !pool.equals(found.dataPool()))
                .isPresent()) {
            throw new DriverException.IncompatibleExisting(exists + " in data pool " + found.dataPool());
        }
    }

    /// Checks that mutable parameters have the requested values; one that the request omits always matches.
    ///
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if one differs
    void checkChangeable(ResolvedVolumeSpec requested, Subvolume found) {
        MutableParameters wanted = requested.parameters().changeable();
        String exists = exists(requested) + " with ";
        String hint = "; ControllerModifyVolume changes that";
        if (wanted.mode().isPresent() && wanted.mode().getAsInt() != found.mode()) {
            throw new DriverException.IncompatibleExisting(exists + "mode " + Integer.toOctalString(found.mode())
                    + ", not " + Integer.toOctalString(wanted.mode().getAsInt()) + hint);
        }
        if (wanted.quotaFiles().isPresent()) {
            VolumeId.Provisioned id = requested.id();
            String path = found.dataPath().orElseThrow();
            long limit = files.quotaFiles(id.cluster(), id.fileSystem(), path).orElse(0);
            if (limit != wanted.quotaFiles().getAsLong()) {
                throw new DriverException.IncompatibleExisting(exists + "quotaFiles " + limit + ", not "
                        + wanted.quotaFiles().getAsLong() + hint);
            }
        }
    }

    private static String exists(ResolvedVolumeSpec requested) {
        return "volume " + requested.request().name() + " exists as " + requested.id();
    }
}
