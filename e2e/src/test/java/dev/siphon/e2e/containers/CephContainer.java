package dev.siphon.e2e.containers;

import dev.siphon.e2e.lab.Project;
import dev.siphon.e2e.lab.SecretsFile;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.testcontainers.containers.wait.strategy.Wait;

/// A one-node Ceph in a container, run by the lab's own scripts. Any image with Ceph's programs and bash serves.
/// Its daemons listen on its loopback device, so only containers in its network reach them.
final class CephContainer {
    static final String ADDRESS = "127.0.0.1";
    static final String FILE_SYSTEM = "cephfs";

    /// A start takes ten seconds on an idle machine.
    private static final Duration START_LIMIT = Duration.ofMinutes(2);

    private static final Path SCRIPTS = Project.folder().resolve("e2e/lab.d");

    private final EngineContainer container;
    private final Path run;

    private CephContainer(EngineContainer container, Path run) {
        this.container = container;
        this.run = run;
    }

    /// Starts the container and waits until Ceph is healthy.
    static CephContainer start(Containers containers) {
        Path run = containers.directory("ceph", 0);
        EngineContainer container = new EngineContainer(LabImage.CEPH.reference())
                .reading(SCRIPTS)
                .writing(run)
                // in memory, as the lab's: the free space of this host's disk must not affect Ceph's health
                .withTmpFs(Map.of("/tmp", "mode=1777", "/var/lib/ceph", "mode=755"))
                .withEnv(environment(run))
                .withCommand(SCRIPTS.resolve("ceph-container").toString())
                .waitingFor(Wait.forLogMessage(".*Ceph is ready.*", 1).withStartupTimeout(START_LIMIT));
        return new CephContainer(containers.start(container), run);
    }

    private static Map<String, String> environment(Path run) {
        return Map.of(
                "LAB_RUN", run.toString(),
                "LAB_ADDRESS", ADDRESS,
                "FS_NAME", FILE_SYSTEM,
                "MDS_TICK_SECONDS", "1",
                "CEPH_CONF", run.resolve("ceph/ceph.conf").toString(),
                "CEPH_KEYRING", run.resolve("ceph/keyring").toString(),
                "NODE_SECRET", run.resolve("ceph/node-secret.yaml").toString(),
                "NODE_SECRETS", run.resolve("ceph/node-secrets.yaml").toString());
    }

    /// Returns the container, for others that join its network.
    EngineContainer container() {
        return container;
    }

    /// Runs a script as `client.admin`.
    void administer(String script) {
        var _ = container.run("bash", "-euo", "pipefail", "-c", script);
    }

    /// Returns the file with the secrets of node calls, in csi-sanity's format.
    Path nodeSecrets() {
        return file("node-secrets.yaml");
    }

    /// Returns a file of Ceph's configuration folder; the path is the same in the container and on this host.
    Path file(String name) {
        return run.resolve("ceph").resolve(name);
    }

    /// Returns the secrets of a NodeStageVolume request.
    Map<String, String> nodeStageSecrets() {
        return SecretsFile.read(nodeSecrets()).getOrDefault("NodeStageVolumeSecret", Map.of());
    }

    /// Lists every subvolume, as GROUP/NAME.
    List<String> subvolumes() {
        return container.run(SCRIPTS.resolve("subvolumes").toString()).lines().toList();
    }
}
