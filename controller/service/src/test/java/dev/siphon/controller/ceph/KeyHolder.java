package dev.siphon.controller.ceph;

import dev.siphon.controller.key.VolumeKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/// The holder of one key, with Ceph's own tools. Each attempt returns whether it succeeded.
public record KeyHolder(String userId, Path keyring) {
    private static final int LIMIT_SECONDS = 30;

    /// Returns the holder of this key.
    ///
    /// @param folder for a keyring of mode 0600
    public static KeyHolder of(VolumeKey key, Path folder) {
        try {
            Path keyring = Files.createTempFile(
                    folder,
                    "holder-",
                    ".keyring",
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(keyring, "[client." + key.userId() + "]\n\tkey = " + key.secret() + "\n");
            return new KeyHolder(key.userId(), keyring);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns the administrator of the lab's cluster.
    public static KeyHolder admin() {
        return new KeyHolder("admin", Path.of(environment("CEPH_KEYRING")));
    }

    /// Runs `rados`.
    public boolean rados(String... words) {
        List<String> command = new ArrayList<>(List.of(
                "rados",
                "--conf",
                environment("CEPH_CONF"),
                "--name",
                "client." + userId,
                "--keyring",
                keyring.toString()));
        command.addAll(List.of(words));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError(String.join(" ", command) + " did not end");
            }
            return process.exitValue() == 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /// An action on a file below a mounted directory.
    public interface Attempt {
        void in(Path mounted) throws IOException;
    }

    /// Mounts a directory of the file system, and runs the attempt there.
    public boolean in(String directory, Attempt attempt) {
        try (FuseMount mount = FuseMount.mount(
                "--id", userId, "--keyring", keyring.toString(), "-r", directory, "--client_mount_timeout=20")) {
            attempt.in(mount.at("/"));
            return true;
        } catch (IllegalStateException | IOException refused) {
            return false;
        }
    }

    private static String environment(String name) {
        return Objects.requireNonNull(System.getenv(name), name + " is not set: run inside the lab");
    }
}
