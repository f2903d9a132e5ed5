package dev.siphon.controller.admin;

import dev.siphon.controller.key.SecretFile;
import dev.siphon.controller.key.VolumeKey;
import java.io.IOException;
import java.nio.file.Path;

/// A login host's key, in the two forms that Ceph's clients read: a keyring, and the bare key beside it. Both have mode
/// 0600 and are whole or not there.
final class Keyring {
    private Keyring() {}

    /// The file with the bare key, for mount.ceph's `secretfile`.
    static Path secretFile(Path keyring) {
        return keyring.resolveSibling(keyring.getFileName() + ".secret");
    }

    /// The text of a keyring.
    static String text(VolumeKey key) {
        return "[client." + key.userId() + "]\n\tkey = " + key.secret() + "\n";
    }

    /// Writes both files, in place of earlier ones.
    ///
    /// @throws IOException if one cannot be written; its message names the file and no key
    static void write(Path keyring, VolumeKey key) throws IOException {
        SecretFile.replace(keyring, text(key));
        SecretFile.replace(secretFile(keyring), key.secret() + "\n");
    }
}
