package dev.siphon.controller.volume;

/// Port: lets the pods of a namespace use the volumes of an account.
@FunctionalInterface
public interface AccountAccess {
    /// Nobody asks who may use a volume.
    AccountAccess NONE = (_, _, _) -> {};

    /// Lets a namespace use the volumes of a group that exists. Repeating it is safe, and costs nothing.
    ///
    /// @throws dev.siphon.csi.DriverException.OperationPending (ABORTED) if that group's is being changed
    /// @throws dev.siphon.csi.DriverException.BackendUnavailable (UNAVAILABLE) if it cannot be published
    /// @throws dev.siphon.csi.DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if there is no room for one more
    void grant(SubvolumeGroup group, String account, String namespace);
}
