package dev.siphon.controller.key;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Port: cephx identities of volumes, which the mons keep. Each method is one mon command, but [#mint]
/// where the identity exists with other caps. Deadlines and unknown outcomes are as in
/// [dev.siphon.controller.volume.Subvolumes].
public interface Identities {
    /// Makes an identity, or finds it. One of that name with other caps belonged to a volume that is gone:
    /// it is removed and made anew with another secret, so that nothing is inherited. Repeating it is safe.
    ///
    /// @throws dev.siphon.csi.DriverException.AccessDenied (PERMISSION_DENIED) if the driver's own identity
    ///     may not mint; `siphon ceph-caps` prints what it needs
    VolumeKey mint(String cluster, String userId, VolumeCaps volumeCaps);

    /// As [#mint]; empty if the identity is retired: another of its owner's has to take its place.
    Optional<VolumeKey> mintUnlessRetired(String cluster, String userId, VolumeCaps volumeCaps);

    /// Makes an identity worthless and leaves its name taken, so that nobody mints it anew: there is another of
    /// that name, which may do nothing, and whose secret nobody has. Up to three mon commands. Sessions that are
    /// open go on until their ticket ends.
    void retire(String cluster, String userId);

    /// Makes an identity with a secret that nobody has had: two mon commands. Not to be repeated under one
    /// name; whoever tries again takes the next one.
    ///
    /// @param caps what each service is to allow it
    /// @throws dev.siphon.csi.DriverException.OperationPending (ABORTED) if there is one of that name: somebody
    ///     else has just made it
    VolumeKey mintNew(String cluster, String userId, Map<String, String> caps);

    /// As [#mintNew], with the caps by which a volume is opened.
    VolumeKey mintNew(String cluster, String userId, VolumeCaps volumeCaps);

    /// Removes an identity; one that is not there is no error. Sessions that are open go on until their
    /// ticket ends.
    void remove(String cluster, String userId);

    /// The ids of all identities that begin so, sorted.
    List<String> startingWith(String cluster, String prefix);

    /// All identities that begin so, with what they may do; sorted.
    List<MintedIdentity> minted(String cluster, String prefix);
}
