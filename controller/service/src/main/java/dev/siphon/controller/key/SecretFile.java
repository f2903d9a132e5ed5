package dev.siphon.controller.key;

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

/// Writes files that hold a secret: mode 0600 from the start, and replaced atomically, even across a crash.
public final class SecretFile {
    private static final FileAttribute<?> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

    private SecretFile() {}

    /// Replaces the content of `file` with `text`.
    ///
    /// @throws IOException if it cannot be written; the message names a file and nothing of `text`
    public static void replace(Path file, String text) throws IOException {
        Path aside = aside(file);
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

    /// Removes the file and the temporary file of an interrupted write; a missing one is no error.
    static void remove(Path file) throws IOException {
        Files.deleteIfExists(aside(file));
        Files.deleteIfExists(file);
    }

    private static Path aside(Path file) {
        return file.resolveSibling("." + file.getFileName() + ".new");
    }
}
