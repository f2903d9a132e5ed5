package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Quoted;
import java.util.Map;
import java.util.regex.Pattern;

/// The cephx identity that a volume is mounted with, from the secrets `userID` and `userKey` of NodeStageVolume.
///
/// @param userId without the type `client.`
/// @param key its key
public record CephCredentials(String userId, CephKey key) {
    private static final String USER_ID = "userID";
    private static final String USER_KEY = "userKey";

    /// What cephx allows, less what a mount option, a keyring or a command line could take for its own.
    private static final Pattern FORM = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}");

    /// Reads the secrets; further keys in `secrets` are left alone.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) naming the secret that is missing or malformed
    public static CephCredentials fromSecrets(Map<String, String> secrets) {
        String userId = secrets.getOrDefault(USER_ID, "");
        String key = secrets.getOrDefault(USER_KEY, "");
        if (userId.isEmpty()) {
            throw new DriverException.InvalidRequest("secrets lack " + USER_ID);
        }
        if (key.isEmpty()) {
            throw new DriverException.InvalidRequest("secrets lack " + USER_KEY);
        }
        if (userId.startsWith("client.") || !FORM.matcher(userId).matches()) {
            // not quoted: a key pasted into the wrong field must not reach a log
            throw new DriverException.InvalidRequest("secret " + USER_ID
                    + " is not a cephx user id: letters, digits, '_', '-' and '.', without the prefix 'client.'");
        }
        return new CephCredentials(userId, CephKey.parse("secret " + USER_KEY, key));
    }

    /// Whether `secrets` hold any credentials at all.
    public static boolean arePresent(Map<String, String> secrets) {
        return secrets.containsKey(USER_ID) || secrets.containsKey(USER_KEY);
    }

    @Override
    public String toString() {
        return "client." + Quoted.of(userId) + " ***";
    }
}
