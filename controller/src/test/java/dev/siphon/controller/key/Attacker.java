package dev.siphon.controller.key;

import dev.siphon.controller.ceph.FuseMount;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/// Somebody with the key of one volume and all of Ceph's own tools.
final class Attacker {
    private static final int LIMIT_SECONDS = 20;

    private final String userId;
    private final Path keyring;

    /// @param folder for the keyring
    Attacker(VolumeKey key, Path folder) {
        userId = key.userId();
        keyring = folder.resolve("client." + userId + ".keyring");
        try {
            Files.createFile(
                    keyring, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(keyring, "[client." + userId + "]\n\tkey = " + key.secret() + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// What a program said.
    record Said(int code, String text) {
        boolean succeeded() {
            return code == 0;
        }
    }

    /// Runs one of Ceph's tools (`ceph`, `rados`) with the key.
    Said tool(String program, String... words) {
        List<String> command = new ArrayList<>(List.of(
                program,
                "--conf",
                Objects.requireNonNull(System.getenv("CEPH_CONF")),
                "--name",
                "client." + userId,
                "--keyring",
                keyring.toString()));
        command.addAll(List.of(words));
        return run(command);
    }

    /// Mounts a directory of the file system with the key.
    FuseMount mount(String directory) throws IOException {
        return FuseMount.mount("--id", userId, "--keyring", keyring.toString(), "--client_mountpoint=" + directory);
    }

    static Said run(List<String> command) {
        try {
            Path output = Files.createTempFile("said-", "");
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
            if (!ended) {
                process.destroyForcibly();
            }
            String text = Files.readString(output);
            Files.delete(output);
            return new Said(ended ? process.exitValue() : -1, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
