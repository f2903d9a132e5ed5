package dev.siphon.controller.volume;

/// Port: lets the pods of a namespace use the volumes of an account.
@FunctionalInterface
public interface AccountAccess {
    /// Grants nothing: access is not bound to namespaces.
    AccountAccess NONE = (_, _, _) -> {};

    /// Lets a namespace use the volumes of an existing group. Idempotent; a repeat costs at most one round trip to
    /// the API server.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound (NOT_FOUND) if the namespace is gone
    /// @throws dev.siphon.csi.DriverException.OperationPending (ABORTED) if another grant for the group is being
    ///     written
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if the grant cannot be written or
    ///     published
    /// @throws dev.siphon.csi.DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if the published grants are full
    void grant(SubvolumeGroup group, String account, String namespace);
}
