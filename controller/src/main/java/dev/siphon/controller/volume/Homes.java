package dev.siphon.controller.volume;

import dev.siphon.csi.VolumeId;
import java.util.Optional;

/// Homes: one subvolume per account, made with the first volume of a class of `kind: home`. Such a volume is a door
/// to it: a subvolume that holds nothing, whose context and key lead to the home. Doors come and go with their
/// PVCs; the home stays until an administrator removes it.
public final class Homes {
    /// What DeleteVolume, of a home or of a door, has to carry among its secrets to remove the home (and the
    /// door), with the home's id as value: no orchestrator sends that, so no reclaim policy takes a home away.
    public static final String DELETE = "deleteHome";

    private Homes() {}

    /// The home of the group's account, whether it exists or not.
    public static VolumeId.Provisioned of(SubvolumeGroup group) {
        return group.volume(CephNames.homeName(group));
    }

    /// The volume called `name` that stands for the home of the group's account, whether it exists or not.
    public static VolumeId.Provisioned door(SubvolumeGroup group, String name) {
        return group.volume(CephNames.door(group, name));
    }

    /// Whether the volume is a home.
    public static boolean isHome(VolumeId.Provisioned volume) {
        return is(volume, CephNames.Kind.HOME);
    }

    /// Whether the volume stands for a home.
    public static boolean isDoor(VolumeId.Provisioned volume) {
        return is(volume, CephNames.Kind.DOOR);
    }

    /// The volume that holds the files of `volume`: the home of a door, else itself.
    public static VolumeId.Provisioned behind(VolumeId.Provisioned volume) {
        return isDoor(volume) ? of(SubvolumeGroup.of(volume)) : volume;
    }

    private static boolean is(VolumeId.Provisioned volume, CephNames.Kind kind) {
        return CephNames.kindOf(volume.subvolume()).equals(Optional.of(kind));
    }
}
