package dev.siphon.controller.volume;

import dev.siphon.csi.VolumeId;
import java.util.Optional;

/// Names and recognizes homes. A home is one subvolume per account, created with the first volume of a class of
/// `kind: home`. Each such volume is an alias: an empty subvolume whose context and key lead to the home. Aliases come
/// and go with their claims; the home stays until an administrator removes it.
public final class Homes {
    /// The secret that DeleteVolume for a home or an alias must carry to remove the home (and the alias); its value is
    /// the home's id. No orchestrator sends it, so no reclaim policy removes a home.
    public static final String DELETE = "deleteHome";

    private Homes() {}

    /// Returns the home of the group's account, whether it exists or not.
    public static VolumeId.Provisioned of(SubvolumeGroup group) {
        return group.volume(CephNames.homeName(group));
    }

    /// Returns the alias called `name` of the home of the group's account, whether it exists or not.
    public static VolumeId.Provisioned alias(SubvolumeGroup group, String name) {
        return group.volume(CephNames.alias(group, name));
    }

    /// Returns whether the volume is a home.
    public static boolean isHome(VolumeId.Provisioned volume) {
        return is(volume, CephNames.Kind.HOME);
    }

    /// Returns whether the volume is an alias of a home.
    public static boolean isAlias(VolumeId.Provisioned volume) {
        return is(volume, CephNames.Kind.ALIAS);
    }

    /// Returns the volume that holds the files of `volume`: the home for an alias, otherwise the volume itself.
    public static VolumeId.Provisioned behind(VolumeId.Provisioned volume) {
        return isAlias(volume) ? of(SubvolumeGroup.of(volume)) : volume;
    }

    private static boolean is(VolumeId.Provisioned volume, CephNames.Kind kind) {
        return CephNames.kindOf(volume.subvolume()).equals(Optional.of(kind));
    }
}
