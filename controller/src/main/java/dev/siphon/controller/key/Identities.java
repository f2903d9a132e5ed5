package dev.siphon.controller.key;

import java.util.List;

/// Port: cephx identities of volumes, which the mons keep. Each method is one mon command, but [#mint]
/// where the identity exists with other caps. Deadlines and unknown outcomes are as in
/// [dev.siphon.controller.volume.Subvolumes].
public interface Identities {
    /// Makes an identity, or finds it. One of that name with other caps belonged to a volume that is gone:
    /// it is removed and made anew with another secret, so that nothing is inherited. Repeating it is safe.
    ///
    /// @throws dev.siphon.csi.DriverException.AccessDenied (PERMISSION_DENIED) if the driver's own identity
    ///     may not mint; `siphon ceph-caps` prints what it needs
    VolumeKey mint(String cluster, String userId, Grant grant);

    /// Makes an identity with the caps of another one, or finds it: two mon commands.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound (NOT_FOUND) if there is no identity `like`
    VolumeKey mintLike(String cluster, String userId, String like);

    /// Removes an identity; one that is not there is no error. Sessions that are open go on until their
    /// ticket ends.
    void remove(String cluster, String userId);

    /// The ids of all identities that begin so, sorted.
    List<String> startingWith(String cluster, String prefix);

    /// All identities that begin so, with what they may do; sorted.
    List<MintedIdentity> minted(String cluster, String prefix);
}
