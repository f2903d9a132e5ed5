package dev.siphon.node.mount;

import dev.siphon.csi.Monitors;
import dev.siphon.csi.VolumeId;

/// What the mount table tells of a mount that a [Mounter] made.
public sealed interface MountedVolume {
    /// Whether this can be a mount of `id`.
    boolean is(VolumeId id);

    /// A Ceph client's.
    sealed interface OfClient extends MountedVolume {
        /// The monitors that the client was given.
        Monitors monitors();
    }

    /// The tree of a dataset, whatever its image is read from.
    ///
    /// @param digest how the dataset's digest begins
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

    /// A mount that tells only which directory it shows.
    ///
    /// @param path the directory, from the root of the Ceph file system
    record Located(String fileSystem, String path, Monitors monitors) implements OfClient {
        private static final String SNAPSHOTS = "/.snap/";

        /// By place, since a volume's id says where it lives. A volume backed by a snapshot shows another
        /// volume's directory, of the same account: what shows a snapshot may be any such volume of that
        /// account.
        @Override
        public boolean is(VolumeId id) {
            return id.fileSystem().equals(fileSystem)
                    && switch (id) {
                        case VolumeId.ByHand fixed -> path.equals(fixed.path());
                        case VolumeId.Provisioned own -> {
                            String group = "/volumes/" + own.group() + "/";
                            yield path.startsWith(group + own.subvolume() + "/")
                                    || (path.startsWith(group) && path.contains(SNAPSHOTS));
                        }
                    };
        }
    }
}
