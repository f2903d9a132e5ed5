package dev.siphon.controller.admin;

import dev.siphon.controller.key.SecretFile;
import dev.siphon.controller.key.VolumeKey;
import java.io.IOException;
import java.nio.file.Path;

/// A login host's key in the two forms that Ceph's clients read: a keyring, and a file with the bare key. Both are
/// written atomically, with mode 0600.
final class Keyring {
    private Keyring() {}

    /// Returns the path of the bare key, for mount.ceph's `secretfile`.
    static Path secretFile(Path keyring) {
        return keyring.resolveSibling(keyring.getFileName() + ".secret");
    }

    /// Returns the text of a keyring.
    static String text(VolumeKey key) {
        return "[client." + key.userId() + "]\n\tkey = " + key.secret() + "\n";
    }

    /// Writes both files, and replaces earlier ones.
    ///
    /// @throws IOException if one cannot be written; the message names the file and no key
    static void write(Path keyring, VolumeKey key) throws IOException {
        SecretFile.replace(keyring, text(key));
        SecretFile.replace(secretFile(keyring), key.secret() + "\n");
    }
}
