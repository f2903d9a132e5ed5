package dev.siphon.e2e.containers;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.testcontainers.containers.Container.ExecResult;

/// csi-sanity in a container without a network. It has only the sockets of controller and node and, as a kubelet
/// does, sees the node's mounts.
///
/// @param controller the folder of the controller's socket
/// @param kubelet the folder of the node's socket, in which csi-sanity creates its mount points
/// @param secrets of node calls, in csi-sanity's format
record CsiSanity(Path controller, Path kubelet, Path secrets) {
    /// Default mode takes about a minute.
    private static final Duration LIMIT = Duration.ofMinutes(4);

    /// Runs all cases of csi-sanity.
    ///
    /// @param folder the folder for its parameter files
    SanityReport run(Path folder) {
        Path program = program();
        Path parameters = folder.resolve("parameters.yaml");
        Path mutable = folder.resolve("mutable-parameters.yaml");
        Containers.write(parameters, "owner: " + ContainedDriver.ACCOUNT + "\n");
        Containers.write(mutable, "quotaFiles: \"10000\"\n");
        try (EngineContainer container = new EngineContainer(LabImage.DRIVER.reference())
                .reading(program)
                .reading(folder)
                .reading(secrets)
                .reading(controller)
                .watching(kubelet)
                .withCommand("sleep", "infinity")) {
            container.start();
            ExecResult result = container.attempt(
                    LIMIT,
                    program.toString(),
                    "--ginkgo.no-color",
                    "--csi.endpoint=" + ContainedDriver.endpoint(kubelet),
                    "--csi.controllerendpoint=" + ContainedDriver.endpoint(controller),
                    "--csi.secrets=" + secrets,
                    "--csi.testvolumeparameters=" + parameters,
                    "--csi.testvolumemutableparameters=" + mutable,
                    "--csi.testvolumesize=1073741824",
                    "--csi.testvolumeexpandsize=2147483648",
                    // these must not exist: csi-sanity creates them
                    "--csi.mountdir=" + kubelet.resolve("target"),
                    "--csi.stagingdir=" + kubelet.resolve("staging"));
            return SanityReport.read(result.getExitCode(), result.getStdout());
        }
    }

    private static Path program() {
        return Path.of(Optional.ofNullable(System.getenv("CSI_SANITY"))
                .orElseThrow(() -> new IllegalStateException("CSI_SANITY must say where csi-sanity is: e2e/docker")));
    }
}
