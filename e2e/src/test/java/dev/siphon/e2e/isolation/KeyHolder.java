package dev.siphon.e2e.isolation;

import dev.siphon.e2e.lab.CephClient;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// An identity with one key and all of Ceph's own tools.
public record KeyHolder(String userId, Path keyring) {
    private static final Duration MOUNT_LIMIT = Duration.ofSeconds(20);

    /// Returns the holder of this key.
    ///
    /// @param folder for a keyring of mode 0600
    public static KeyHolder with(String userId, String key, Path folder) {
        try {
            Path keyring = Files.createTempFile(
                    folder,
                    "found-",
                    ".keyring",
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(keyring, "[client." + userId + "]\n\tkey = " + key + "\n");
            return new KeyHolder(userId, keyring);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns the administrator of the lab's cluster.
    static KeyHolder admin() {
        return new KeyHolder("admin", Lab.here().keyring());
    }

    /// Runs one of Ceph's tools, `ceph` or `rados`.
    public Command.Result tool(String program, String... words) {
        List<String> command = new ArrayList<>(List.of(
                program,
                "--conf",
                Lab.here().conf().toString(),
                "--name",
                "client." + userId,
                "--keyring",
                keyring.toString()));
        command.addAll(List.of(words));
        return Command.attempt(command.toArray(String[]::new));
    }

    /// A mounted directory of the file system.
    public record Mounted(Path root) implements AutoCloseable {
        @Override
        public void close() {
            Command.run("umount", "--lazy", root.toString());
            try {
                Files.delete(root);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /// Mounts a directory of the file system: with the kernel's client in a guest, with ceph-fuse elsewhere.
    ///
    /// @param options of the mount command
    /// @throws Refused if the mount fails
    public Mounted mount(String directory, String... options) throws Refused {
        try {
            Path root = Files.createTempDirectory("siphon-attack-");
            List<String> command =
                    new ArrayList<>(CephClient.here().mount(Lab.here(), userId, keyring, directory, MOUNT_LIMIT));
            command.addAll(List.of(options));
            command.add(root.toString());
            Command.Result said = Command.attempt(command.toArray(String[]::new));
            if (said.exit() != 0) {
                Files.delete(root);
                throw new Refused(said.output());
            }
            return new Mounted(root);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// A mount that failed.
    public static final class Refused extends Exception {
        private static final long serialVersionUID = 1L;

        Refused(String said) {
            super(said);
        }
    }
}
