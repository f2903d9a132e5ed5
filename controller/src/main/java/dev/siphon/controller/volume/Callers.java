package dev.siphon.controller.volume;

/// What those who use volumes need beside them.
///
/// @param keys gives volumes their keys
/// @param access lets namespaces use them
public record Callers(KeyMinting keys, AccountAccess access) {
    /// Whoever mounts brings a key, and nobody asks for whom.
    public static final Callers NONE = new Callers(KeyMinting.NONE, AccountAccess.NONE);
}
