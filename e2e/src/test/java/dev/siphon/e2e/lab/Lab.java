package dev.siphon.e2e.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/// A cluster brought up by `e2e/lab up`, seen from inside the lab.
///
/// @param run its run folder
/// @param address where its daemons listen
/// @param conf its ceph.conf
/// @param keyring the key of client.admin
/// @param fileSystem its CephFS
/// @param nodeSecrets the secrets of node calls, in csi-sanity's format
/// @param release of Ceph: 18 or 20
public record Lab(Path run, String address, Path conf, Path keyring, String fileSystem, Path nodeSecrets, int release) {
    /// The cluster whose lab this process runs in.
    ///
    /// @throws IllegalStateException outside a lab
    public static Lab here() {
        return inFolder(Path.of(variable("LAB_RUN")
                .orElseThrow(() -> new IllegalStateException("runs in a lab only: e2e/lab run ..."))));
    }

    /// The other cluster that `lab.d/with-lab --second` brought up. Its daemons can be reached, not signalled.
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

    /// The monitor, as a clusters file names it.
    public String monitors() {
        return address;
    }

    /// Whether the cluster can stop writes for a group of snapshots (`fs quiesce`, since Ceph 19).
    public boolean canQuiesce() {
        return release > 18;
    }

    /// What a NodeStage call brings: `userID` and `userKey` of the lab's node identity.
    public Map<String, String> nodeStageSecrets() {
        return SecretsFile.read(nodeSecrets).getOrDefault("NodeStageVolumeSecret", Map.of());
    }
}
