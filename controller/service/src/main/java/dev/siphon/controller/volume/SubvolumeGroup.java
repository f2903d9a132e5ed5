package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Account;
import dev.siphon.csi.VolumeId;
import java.util.Optional;

/// One account's subvolumegroup, which holds everything that the account owns in a file system.
///
/// @param cluster the cluster's id in the clusters file
/// @param fileSystem the Ceph file system
/// @param name the subvolumegroup, a fixed-length digest of the account's id
public record SubvolumeGroup(String cluster, String fileSystem, String name) {
    private static final String ROOT = "/volumes/";

    /// Returns the group of an account, whether it exists or not.
    public static SubvolumeGroup of(String cluster, String fileSystem, Account account) {
        return new SubvolumeGroup(cluster, fileSystem, CephNames.group(account.id()));
    }

    /// Returns the group that holds `volume`.
    public static SubvolumeGroup of(VolumeId.Provisioned volume) {
        return new SubvolumeGroup(volume.cluster(), volume.fileSystem(), volume.group());
    }

    /// Returns the group, Siphon's or not, whose directory is or contains the path; empty if there is none.
    public static Optional<SubvolumeGroup> at(String cluster, String fileSystem, String path) {
        return nameAt(path).map(name -> new SubvolumeGroup(cluster, fileSystem, name));
    }

    /// Returns the name of an account's group, the same in every file system.
    public static String nameOf(Account account) {
        return CephNames.group(account.id());
    }

    /// Returns the id of the subvolume `subvolume` in this group.
    public VolumeId.Provisioned volume(String subvolume) {
        return new VolumeId.Provisioned(cluster, fileSystem, name, subvolume);
    }

    /// Returns the group's directory in the file system (`src/pybind/mgr/volumes/fs/vol_spec.py`).
    public String path() {
        return ROOT + name;
    }

    /// Returns a subvolume's directory in the file system. The mgr puts the data one level deeper.
    public static String pathOf(VolumeId.Provisioned volume) {
        return of(volume).path() + "/" + volume.subvolume();
    }

    /// Returns whether a path is the directory of a Siphon group, or lies in one.
    static boolean holds(String path) {
        return nameAt(path).filter(CephNames::isGroup).isPresent();
    }

    private static Optional<String> nameAt(String path) {
        String below = path.startsWith(ROOT) ? path.substring(ROOT.length()) : "";
        String name = below.contains("/") ? below.substring(0, below.indexOf('/')) : below;
        return name.isEmpty() ? Optional.empty() : Optional.of(name);
    }

    @Override
    public String toString() {
        return "group " + name + " of file system " + fileSystem + " in cluster " + cluster;
    }
}
