package dev.siphon.controller.admin;

import dev.siphon.controller.key.VolumeKey;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/// A login host's key, in the two forms that Ceph's clients read: a keyring, and the bare key beside it. Both have mode
/// 0600 and are whole or not there.
final class Keyring {
    private static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

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
        put(keyring, text(key));
        put(secretFile(keyring), key.secret() + "\n");
    }

    private static void put(Path file, String text) throws IOException {
        Path aside = file.resolveSibling("." + file.getFileName() + ".new");
        Files.deleteIfExists(aside);
        try (FileChannel channel =
                FileChannel.open(aside, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), OWNER_ONLY)) {
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
        Files.move(aside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
