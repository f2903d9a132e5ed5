package dev.siphon.e2e.noop;

import dev.siphon.csi.server.DriverName;
import dev.siphon.csi.server.DriverProcess;
import dev.siphon.csi.server.IdentityService;
import dev.siphon.csi.server.JsonLogging;
import dev.siphon.csi.server.OpsAddress;
import dev.siphon.csi.server.ServerConfig;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.registration.KubeletPlugin;
import dev.siphon.node.registration.Registration;
import dev.siphon.node.rpc.RegistrationService;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import org.slf4j.event.Level;

/// A CSI driver that replies immediately: a volume is a name, and a pod gets an empty tmpfs. It shares Siphon's
/// code for serving, logging and registering. So its times for claims and pods are Kubernetes' own; what Siphon
/// adds comes from Siphon and Ceph.
public final class NoopDriver {
    private static final DriverName NAME = new DriverName("noop.siphon.test");
    private static final Path KUBELET = Path.of("/var/lib/kubelet");

    private NoopDriver() {}

    /// Serves until SIGTERM, on a Kubernetes node.
    public static void main(String[] arguments) throws IOException, InterruptedException {
        JsonLogging.start(Level.INFO);
        Path folder = Files.createDirectories(KUBELET.resolve("plugins").resolve(NAME.value()));
        ServerConfig config = new ServerConfig(
                NAME,
                new UnixEndpoint(folder.resolve("csi.sock")),
                new OpsAddress("127.0.0.1", 0),
                Duration.ofSeconds(60),
                Duration.ofSeconds(15),
                Duration.ofSeconds(25));
        System.exit(start(config).await(config));
    }

    private static DriverProcess start(ServerConfig config) {
        PrometheusRegistry metrics = new PrometheusRegistry();
        Registration registration = new Registration(
                KubeletPlugin.in(
                        KUBELET.resolve("plugins_registry"),
                        NAME,
                        config.endpoint().path()),
                InstantSource.system(),
                metrics);
        DriverProcess process = DriverProcess.start(
                config,
                new DriverProcess.Parts(
                        List.of(IdentityService.Offer.CONTROLLER_SERVICE),
                        List.of(new NoopController(), new NoopNode()),
                        registration::check,
                        metrics));
        registration.open(new RegistrationService(registration)::serve);
        process.closeFirst("registration", registration);
        return process;
    }
}
