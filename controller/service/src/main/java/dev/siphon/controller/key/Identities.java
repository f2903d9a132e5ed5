package dev.siphon.controller.key;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Port: the cephx identities of volumes, kept by the mons. Each method is one mon command unless it says
/// otherwise. Deadlines and unknown outcomes are as in [dev.siphon.controller.volume.Subvolumes].
public interface Identities {
    /// Creates an identity, or returns the existing one. An existing identity with other caps is replaced by one
    /// with a new secret, so that nothing is inherited; that takes four mon commands. It belonged to a deleted
    /// volume, or is being retired. Idempotent.
    ///
    /// @throws dev.siphon.csi.DriverException.AccessDenied (PERMISSION_DENIED) if the driver's own identity may
    ///     not mint; `siphon ceph-caps` prints the caps that it needs
    VolumeKey mint(String cluster, String userId, VolumeCaps volumeCaps);

    /// Like [#mint], but returns empty if the identity is retired; its owner must use another name. Costs up to
    /// six mon commands.
    Optional<VolumeKey> mintUnlessRetired(String cluster, String userId, VolumeCaps volumeCaps);

    /// Invalidates an identity but keeps its name taken, so that nobody mints it again. Its replacement has no
    /// rights, and a secret that nobody knows. Costs up to four mon commands. Open sessions continue until their
    /// ticket expires.
    void retire(String cluster, String userId);

    /// Creates an identity with a new secret: two mon commands. Not repeatable under one name; a retry must use
    /// the next name.
    ///
    /// @param caps what the identity may do, by service
    /// @throws dev.siphon.csi.DriverException.OperationPending (ABORTED) if the name exists: another process has
    ///     just created it
    VolumeKey mintNew(String cluster, String userId, Map<String, String> caps);

    /// Like [#mintNew], with the caps that open a volume.
    VolumeKey mintNew(String cluster, String userId, VolumeCaps volumeCaps);

    /// Removes an identity; a missing one is no error. Open sessions continue until their ticket expires.
    void remove(String cluster, String userId);

    /// Returns the ids of all identities with this prefix, sorted.
    List<String> startingWith(String cluster, String prefix);

    /// Returns all identities with this prefix and their caps, sorted.
    List<MintedIdentity> minted(String cluster, String prefix);
}
