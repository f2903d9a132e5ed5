package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.LabDaemon;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// A registry of images and charts on the lab's loopback, from which containerd pulls without TLS.
///
/// @param daemon its server, which ends with the lab
record LocalRegistry(LabDaemon daemon) implements AutoCloseable {
    /// Where its repositories are, as an image's name says it.
    static final String NAME = "localhost:5000/lab";

    private static final int PORT = 5000;
    private static final Duration COPY = Duration.ofMinutes(3);

    /// Starts a registry that keeps its content in `folder`, and waits until it answers.
    static LocalRegistry start(Path folder) throws IOException {
        Path configuration =
                Files.writeString(folder.resolve("config.yml"), """
                version: 0.1
                storage: {filesystem: {rootdirectory: %s}}
                http: {addr: "127.0.0.1:%d"}
                """.formatted(folder.resolve("content"), PORT));
        LabDaemon daemon = LabDaemon.of(
                        "registry", List.of(program("docker-registry"), "serve", configuration.toString()))
                .start();
        var _ = Await.until("the registry answers", Cluster.PATIENCE, LocalRegistry::answers);
        return new LocalRegistry(daemon);
    }

    private static boolean answers() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT), 1000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /// Pushes an OCI layout, as docs/security-policy.md does.
    void push(Path archive, String image) {
        var _ = Command.run(
                COPY,
                List.of(
                        "env",
                        "LD_LIBRARY_PATH=" + program("lib"),
                        program("skopeo"),
                        "copy",
                        "--insecure-policy",
                        "--dest-tls-verify=false",
                        "oci-archive:" + archive,
                        "docker://" + NAME + "/" + image));
    }

    private static String program(String name) {
        return Project.programs("registry").resolve(name).toString();
    }

    @Override
    public void close() {
        daemon.terminate();
    }
}
