package dev.siphon.e2e.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// A cluster started by `e2e/lab up`, seen from inside the lab.
///
/// @param run its run folder
/// @param address of its daemons
/// @param conf its ceph.conf
/// @param keyring the key of client.admin
/// @param fileSystem its CephFS
/// @param nodeSecrets the secrets of node calls, in csi-sanity's format
/// @param release of Ceph: 18 or 20
public record Lab(Path run, String address, Path conf, Path keyring, String fileSystem, Path nodeSecrets, int release) {
    /// Returns the cluster of this process's lab.
    ///
    /// @throws IllegalStateException outside a lab
    public static Lab here() {
        return inFolder(Path.of(variable("LAB_RUN")
                .orElseThrow(() -> new IllegalStateException("runs in a lab only: e2e/lab run ..."))));
    }

    /// Returns the other cluster, which `lab.d/with-lab --second` started. Tests can connect to its daemons but not
    /// signal them.
    ///
    /// @throws IllegalStateException if there is none
    public static Lab second() {
        return inFolder(Path.of(variable("SECOND_LAB_RUN")
                .orElseThrow(() -> new IllegalStateException(
                        "needs a second cluster: e2e/lab.d/with-lab --second, or set SECOND_LAB_RUN"))));
    }

    private static Lab inFolder(Path run) {
        Map<String, String> values = new LinkedHashMap<>();
        try {
            for (String line : Files.readAllLines(run.resolve("env"))) {
                int equals = line.indexOf('=');
                values.put(line.substring(0, equals), line.substring(equals + 1));
            }
        } catch (IOException e) {
            throw new UncheckedIOException("no lab runs in " + run, e);
        }
        return new Lab(
                run,
                value(values, "LAB_ADDRESS"),
                Path.of(value(values, "CEPH_CONF")),
                Path.of(value(values, "CEPH_KEYRING")),
                value(values, "FS_NAME"),
                Path.of(value(values, "NODE_SECRETS")),
                Integer.parseInt(value(values, "CEPH_RELEASE")));
    }

    private static String value(Map<String, String> values, String name) {
        return Optional.ofNullable(values.get(name))
                .orElseThrow(() -> new IllegalStateException("the lab's env file lacks " + name));
    }

    private static Optional<String> variable(String name) {
        return Optional.ofNullable(System.getenv(name));
    }

    /// Returns the monitor's address for a clusters file.
    public String monitors() {
        return address;
    }

    /// Returns whether the cluster can quiesce a group snapshot's volumes (`fs quiesce`, since Ceph 19).
    public boolean canQuiesce() {
        return release > 18;
    }

    /// Returns the secrets of a NodeStageVolume request: `userID` and `userKey` of the lab's node identity.
    public Map<String, String> nodeStageSecrets() {
        return SecretsFile.read(nodeSecrets).getOrDefault("NodeStageVolumeSecret", Map.of());
    }
}
