package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;

/// Whether a volume that exists is what a request for a volume of its name asks for (CSI v1.13, CreateVolume).
final class Fit {
    private final FileTree files;

    Fit(FileTree files) {
        this.files = files;
    }

    /// The size of what was found, if size, owner and pool are what is asked for.
    ///
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if one is not
    long size(Wish wish, Subvolume found) {
        long size = found.quotaBytes().orElse(0);
        String exists = "volume " + wish.request().name() + " exists as " + wish.id();
        if (!wish.capacity().accepts(size)) {
            throw new DriverException.IncompatibleExisting(
                    exists + " with " + size + " bytes, which capacity_range does not accept");
        }
        if (found.uid() != wish.owner().uid() || found.gid() != wish.owner().gid()) {
            throw new DriverException.IncompatibleExisting(exists + " with owner " + found.uid() + ":" + found.gid()
                    + ", not " + wish.owner().uid() + ":" + wish.owner().gid());
        }
        if (wish.parameters()
                .dataPool()
                .filter(pool -> !pool.equals(found.dataPool()))
                .isPresent()) {
            throw new DriverException.IncompatibleExisting(exists + " in data pool " + found.dataPool());
        }
        return size;
    }

    /// Whether the volume has what could be changed since it was made as the request wants it; a request that
    /// wants nothing of it fits.
    ///
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if something differs
    void checkChangeable(Wish wish, Subvolume found) {
        Changeable wanted = wish.parameters().changeable();
        String exists = "volume " + wish.request().name() + " exists as " + wish.id() + " with ";
        String hint = "; ControllerModifyVolume changes that";
        if (wanted.mode().isPresent() && wanted.mode().getAsInt() != found.mode()) {
            throw new DriverException.IncompatibleExisting(exists + "mode " + Integer.toOctalString(found.mode())
                    + ", not " + Integer.toOctalString(wanted.mode().getAsInt()) + hint);
        }
        if (wanted.quotaFiles().isPresent()) {
            VolumeId.Provisioned id = wish.id();
            String path = found.dataPath().orElseThrow();
            long limit = files.quotaFiles(id.cluster(), id.fileSystem(), path).orElse(0);
            if (limit != wanted.quotaFiles().getAsLong()) {
                throw new DriverException.IncompatibleExisting(exists + "quotaFiles " + limit + ", not "
                        + wanted.quotaFiles().getAsLong() + hint);
            }
        }
    }
}
