package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.VolumeSecret;
import dev.siphon.csi.dataset.Packer;
import java.util.Map;
import java.util.regex.Pattern;

/// The cephx identity that a volume is mounted with, from the secrets `userID` and `userKey` of NodeStageVolume.
///
/// @param userId without the type `client.`
/// @param key its key
public record CephCredentials(String userId, CephKey key) {
    private static final String USER_ID = VolumeSecret.USER_ID;
    private static final String USER_KEY = VolumeSecret.USER_KEY;

    /// What cephx allows, without characters that have a meaning in mount options, keyrings or command lines.
    private static final Pattern FORM = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}");

    /// Parses the secrets. Ignores other keys in `secrets`.
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
            // do not quote it: a key pasted into the wrong field must not reach a log
            throw new DriverException.InvalidRequest("secret " + USER_ID
                    + " is not a cephx user id: letters, digits, '_', '-' and '.', without the prefix 'client.'");
        }
        return new CephCredentials(userId, CephKey.parse("secret " + USER_KEY, key));
    }

    /// Parses the secrets of `volume`. A PersistentVolume can name any Secret, so a Secret with a volume id stages
    /// only that volume. A Secret without one, from an older Siphon, stages whatever Ceph allows its key. The
    /// exception is a packer's key: it stages only the directory of its own image.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) as [#fromSecrets]
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if the secrets belong to another volume
    public static CephCredentials ofVolume(VolumeId volume, Map<String, String> secrets) {
        CephCredentials credentials = fromSecrets(secrets);
        checkVolume(volume, secrets);
        if (secrets.getOrDefault(VolumeSecret.VOLUME_ID, "").isEmpty() && isOtherPackers(volume, credentials.userId)) {
            throw ofAnother(volume);
        }
        return credentials;
    }

    /// Rejects secrets that name another volume, whether or not they hold a key.
    ///
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) if they name another volume
    public static void checkVolume(VolumeId volume, Map<String, String> secrets) {
        String is = secrets.getOrDefault(VolumeSecret.VOLUME_ID, "");
        if (!is.isEmpty() && !is.equals(volume.toString())) {
            throw ofAnother(volume);
        }
    }

    private static DriverException ofAnother(VolumeId volume) {
        return new DriverException.AccessDenied("the secrets are for another volume than " + volume
                + ": the PV or the class names the wrong Secret; each volume has its own");
    }

    private static boolean isOtherPackers(VolumeId volume, String userId) {
        return userId.startsWith(Packer.USER_PREFIX)
                && !(volume instanceof VolumeId.Static target
                        && Packer.isTarget(target)
                        && userId.equals(Packer.userId(target)));
    }

    /// Whether `secrets` hold any credentials.
    public static boolean arePresent(Map<String, String> secrets) {
        return secrets.containsKey(USER_ID) || secrets.containsKey(USER_KEY);
    }

    @Override
    public String toString() {
        return "client." + QuotedText.of(userId) + " ***";
    }
}
