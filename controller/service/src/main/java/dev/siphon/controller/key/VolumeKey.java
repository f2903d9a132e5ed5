package dev.siphon.controller.key;

/// A cephx identity with its secret.
///
/// @param userId without `client.`
/// @param secret its key in base64; must never appear in a message
public record VolumeKey(String userId, String secret) {
    @Override
    public String toString() {
        return "client." + userId + " ***";
    }
}
