package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.Command;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/// A registry of images and charts on the lab's loopback, from which containerd pulls without TLS.
final class LocalRegistry implements AutoCloseable {
    /// Where its repositories are, as an image's name says it.
    static final String NAME = "localhost:5000/lab";

    private static final int PORT = 5000;
    private static final Duration COPY = Duration.ofMinutes(3);

    private final Process server;

    private LocalRegistry(Process server) {
        this.server = server;
    }

    /// Starts an empty registry that keeps its content in `folder`, and waits until it answers.
    static LocalRegistry start(Path folder) throws IOException {
        Path configuration =
                Files.writeString(folder.resolve("config.yml"), """
                version: 0.1
                storage: {filesystem: {rootdirectory: %s}}
                http: {addr: "127.0.0.1:%d"}
                """.formatted(folder.resolve("content"), PORT));
        Process server = new ProcessBuilder(program("docker-registry").toString(), "serve", configuration.toString())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("log").toFile())
                .start();
        var _ = Await.until("the registry answers", Cluster.PATIENCE, LocalRegistry::answers);
        return new LocalRegistry(server);
    }

    private static boolean answers() {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), PORT), 1000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /// Pushes an OCI layout, as docs/how-to/operate.md does.
    void push(Path archive, String image) {
        var _ = Command.run(
                COPY,
                List.of(
                        "env",
                        "LD_LIBRARY_PATH=" + program("lib"),
                        program("skopeo").toString(),
                        "copy",
                        "--insecure-policy",
                        "--dest-tls-verify=false",
                        "oci-archive:" + archive,
                        "docker://" + NAME + "/" + image));
    }

    private static Path program(String name) {
        return Path.of(Objects.requireNonNull(System.getenv("SIPHON_LAB_DIR"), "runs in a lab only"), "registry", name);
    }

    @Override
    public void close() {
        server.destroy();
        try {
            int _ = server.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
