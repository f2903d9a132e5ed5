package dev.siphon.node.mount;

import dev.siphon.csi.Monitors;
import dev.siphon.csi.VolumeId;

/// What the mount table reveals about a mount of this driver.
public sealed interface MountedVolume {
    /// Whether this can be a mount of volume `id`.
    boolean is(VolumeId id);

    /// A mount of a Ceph client.
    sealed interface OfClient extends MountedVolume {
        /// The monitors that the client was started with.
        Monitors monitors();
    }

    /// The tree of a dataset, whatever its image is read from.
    ///
    /// @param digest the beginning of the dataset's digest
    record Sealed(String digest) implements MountedVolume {
        @Override
        public boolean is(VolumeId id) {
            return id instanceof VolumeId.DatasetVolume dataset
                    && dataset.digest().equals(digest);
        }
    }

    /// A mount that carries its volume's id.
    record Named(VolumeId volume, Monitors monitors) implements OfClient {
        @Override
        public boolean is(VolumeId id) {
            return volume.equals(id);
        }
    }

    /// A mount that only reveals which directory it shows.
    ///
    /// @param path the directory, from the root of the Ceph file system
    record Located(String fileSystem, String path, Monitors monitors) implements OfClient {
        private static final String SNAPSHOTS = "/.snap/";

        /// Compares the place, as a volume's id says where it lives. A volume backed by a snapshot shows another
        /// volume's directory of the same account. So a mounted snapshot matches every volume of its account.
        @Override
        public boolean is(VolumeId id) {
            return id.fileSystem().equals(fileSystem)
                    && switch (id) {
                        case VolumeId.WithPath fixed -> path.equals(fixed.path());
                        case VolumeId.Provisioned own -> {
                            String group = "/volumes/" + own.group() + "/";
                            yield path.startsWith(group + own.subvolume() + "/")
                                    || (path.startsWith(group) && path.contains(SNAPSHOTS));
                        }
                    };
        }
    }
}
