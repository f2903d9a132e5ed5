package dev.siphon.controller.volume;

/// The keys and grants that make volumes usable.
///
/// @param keys gives volumes their keys
/// @param access lets namespaces use them
public record Callers(KeyMinting keys, AccountAccess access) {
    /// No keys and no grants: whoever mounts brings a key.
    public static final Callers NONE = new Callers(KeyMinting.NONE, AccountAccess.NONE);
}
