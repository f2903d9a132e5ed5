package dev.siphon.controller.key;

/// A cephx identity with its secret.
///
/// @param userId without the type `client.`
/// @param secret its key, base64; never in a message
public record VolumeKey(String userId, String secret) {
    @Override
    public String toString() {
        return "client." + userId + " ***";
    }
}
