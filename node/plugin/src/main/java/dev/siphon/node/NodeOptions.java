package dev.siphon.node;

import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeContext.MounterChoice;
import dev.siphon.csi.server.ConfigProblems;
import dev.siphon.csi.server.ServerOptions;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.mount.NodeVolumes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/// The node's flags, for picocli's `@Mixin`.
final class NodeOptions {
    @Mixin
    private ServerOptions server = new ServerOptions();

    @Option(
            names = "--node-id",
            required = true,
            defaultValue = "${env:NODE_ID}",
            description = "This node's name, which is also its host name as Ceph clients report it (env NODE_ID).")
    private String nodeId = "";

    @Option(
            names = "--node-address",
            defaultValue = "${env:NODE_ADDRESS:-}",
            description = "The IP address from which this node reaches Ceph; only attach mode needs it (env"
                    + " NODE_ADDRESS).")
    private String nodeAddress = "";

    @Option(
            names = "--state-dir",
            defaultValue = "${env:SIPHON_STATE_DIR:-/var/lib/siphon/node}",
            description = "A directory for this process alone, created with mode 0700 (default: /var/lib/siphon/node).")
    private Path stateDirectory = Path.of("/var/lib/siphon/node");

    @Option(
            names = "--max-volumes-per-node",
            defaultValue = "${env:SIPHON_MAX_VOLUMES:-0}",
            description = "How many volumes the CO may place on this node; 0 means no limit (default: 0).")
    private long maxVolumes;

    @Option(
            names = "--syscall-timeout",
            defaultValue = "${env:SIPHON_SYSCALL_TIMEOUT:-15}",
            description = "Seconds without an answer after which a mount counts as hung (default: 15).")
    private int syscallSeconds;

    @Option(
            names = "--mount-timeout",
            defaultValue = "${env:SIPHON_MOUNT_TIMEOUT:-30}",
            description = "Seconds that a client may take to mount, or to write back its data after an unmount"
                    + " (default: 30).")
    private int mountSeconds;

    @Option(
            names = "--mounter",
            defaultValue = "${env:SIPHON_MOUNTER:-auto}",
            description = "kernel or fuse for every volume on this node, whatever its class says; auto follows"
                    + " the class (default: auto).")
    private String mounter = "";

    @Option(
            names = "--grants-file",
            defaultValue = "${env:SIPHON_GRANTS_FILE:-}",
            description = "Publish volumes only to pods of the namespaces that the controller has written to this file"
                    + " for the volume's account (default: to every pod).")
    private String grantsFile = "";

    @Option(
            names = "--control-socket",
            defaultValue = "${env:SIPHON_CONTROL_SOCKET:-}",
            paramLabel = "SOCKET",
            description = "The socket for `siphon cache`, for root only (default: control.sock in --state-dir).")
    private String controlSocket = "";

    @Mixin
    private HttpOptions http = new HttpOptions();

    @Mixin
    private FuseFlags fuse = new FuseFlags();

    @Mixin
    private CacheOptions caches = new CacheOptions();

    @Mixin
    private DeviceOptions devices = new DeviceOptions();

    @Mixin
    private KubernetesOptions kubernetes = new KubernetesOptions();

    org.slf4j.event.Level logLevel() {
        return server.logLevel();
    }

    /// @throws picocli.CommandLine.ParameterException naming every invalid flag
    NodeConfig read(CommandSpec command) {
        ConfigProblems problems = new ConfigProblems();
        var serverConfig = server.read(problems);
        var id = problems.read(
                "--node-id", () -> NodeId.parse(nodeAddress.isEmpty() ? nodeId : nodeId + "@" + nodeAddress));
        var state = problems.read("--state-dir", () -> absolute(stateDirectory));
        var max = problems.read("--max-volumes-per-node", () -> notNegative(maxVolumes));
        var look = problems.read("--syscall-timeout", () -> seconds(syscallSeconds));
        var mount = problems.read("--mount-timeout", () -> seconds(mountSeconds));
        var choice = problems.read("--mounter", () -> MounterChoice.parse(mounter));
        var clients = fuse.read(problems);
        var grantsPath = problems.read(
                "--grants-file",
                () -> Optional.of(grantsFile).filter(file -> !file.isEmpty()).map(file -> absolute(Path.of(file))));
        var grants = kubernetes.grants(problems, grantsPath);
        var limits = caches.read(problems);
        var replicas = caches.policy(problems);
        var offline = caches.offlineFor(problems);
        var control = problems.read(
                "--control-socket",
                () -> UnixEndpoint.parse(
                        controlSocket.isEmpty()
                                ? stateDirectory.resolve("control.sock").toString()
                                : controlSocket));
        var programs = http.read(problems, stateDirectory);
        var registration = kubernetes.registration(problems, serverConfig);
        var machine = devices.read(problems, registration);
        return problems.orFail(
                command,
                () -> new NodeConfig(
                        serverConfig.get(),
                        id.get(),
                        state.get(),
                        max.get(),
                        new NodeVolumes.Limits(look.get(), mount.get()),
                        choice.get(),
                        clients.get(),
                        grants.get(),
                        limits.get(),
                        replicas.get(),
                        caches.fillTurns(),
                        offline.get(),
                        machine.get(),
                        control.get(),
                        programs.get(),
                        registration.get()));
    }

    private static Path absolute(Path path) {
        if (!path.isAbsolute() || path.getNameCount() < 2) {
            throw new IllegalArgumentException("must be absolute, and not at the top of the file system: " + path);
        }
        return path.normalize();
    }

    private static long notNegative(long number) {
        if (number < 0) {
            throw new IllegalArgumentException("must not be negative: " + number);
        }
        return number;
    }

    private static Duration seconds(int seconds) {
        if (seconds < 1) {
            throw new IllegalArgumentException("must be at least 1 second, not " + seconds);
        }
        return Duration.ofSeconds(seconds);
    }
}
