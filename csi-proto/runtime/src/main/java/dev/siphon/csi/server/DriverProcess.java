package dev.siphon.csi.server;

import io.grpc.BindableService;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs a driver process from start to shutdown.
///
/// The socket opens first, so that a sidecar's first RPC gets a reply within a fraction of a second. Backends
/// connect afterwards; until then, the process is not ready.
///
/// At SIGTERM, the process becomes not ready, closes the resources of [#closeFirst], drains the RPCs, and closes
/// those of [#closeAtEnd] in reverse order. A native call can hang in any of these steps. The whole shutdown
/// therefore has a deadline, after which the process exits.
public final class DriverProcess {
    private static final Logger LOG = LoggerFactory.getLogger(DriverProcess.class);
    private static final Duration CHECK_PERIOD = Duration.ofSeconds(5);
    private static final Duration CHECK_DEADLINE = Duration.ofSeconds(5);

    private final ServerConfig config;
    private final Readiness readiness;
    private final OpsServer ops;
    private final UnixSocketServer server;
    private final Deque<NamedResource> announcements = new ArrayDeque<>();
    private final Deque<NamedResource> resources = new ArrayDeque<>();
    private final AtomicBoolean stopping = new AtomicBoolean();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private volatile boolean clean;

    /// The parts that differ between controller and node.
    ///
    /// @param offers the capabilities that Identity reports
    /// @param services the CSI services besides Identity
    /// @param check checks whether the backends can be used
    /// @param metrics the registry of the process's metrics
    public record Parts(
            List<IdentityService.Offer> offers,
            List<BindableService> services,
            Readiness.Check check,
            PrometheusRegistry metrics) {
        public Parts {
            offers = List.copyOf(offers);
            services = List.copyOf(services);
        }
    }

    private record NamedResource(String name, AutoCloseable resource) {}

    private DriverProcess(ServerConfig config, Readiness readiness, OpsServer ops, UnixSocketServer server) {
        this.config = config;
        this.readiness = readiness;
        this.ops = ops;
        this.server = server;
    }

    /// Serves CSI, and HTTP for operators.
    ///
    /// @throws StartFailure if the socket or the address cannot be bound; it then leaves nothing behind
    public static DriverProcess start(ServerConfig config, Parts parts) {
        BuildInfo build = BuildInfo.read();
        Readiness readiness = Readiness.start(parts.check(), CHECK_PERIOD, CHECK_DEADLINE);
        List<BindableService> services = new ArrayList<>(parts.services());
        services.add(new IdentityService(config.driverName(), build, parts.offers(), readiness));
        UnixSocketServer server = UnixSocketServer.start(
                config.endpoint(),
                services.stream().map(BindableService::bindService).toList(),
                List.of(new RpcMetrics(parts.metrics()), new RpcLog(), new ErrorMapping()));
        ProcessMetrics.register(parts.metrics(), build, readiness);
        OpsServer ops;
        try {
            ops = OpsServer.start(config.ops(), readiness, parts.metrics());
        } catch (StartFailure e) {
            server.close();
            readiness.close();
            throw e;
        }
        LOG.atInfo()
                .addKeyValue("driver", config.driverName())
                .addKeyValue("version", build)
                .addKeyValue("endpoint", config.endpoint())
                .addKeyValue("ops_port", ops.address().getPort())
                .log("serving");
        DriverProcess process = new DriverProcess(config, readiness, ops, server);
        process.closeAtEnd("heap-trim", HeapTrim.start());
        return process;
    }

    /// Closes `resource` at shutdown: after the RPCs have ended, and before resources that were added earlier.
    public synchronized void closeAtEnd(String name, AutoCloseable resource) {
        resources.push(new NamedResource(name, resource));
    }

    /// Closes `announcement`, which sends callers here, first at shutdown, while RPCs are still accepted.
    public synchronized void closeFirst(String name, AutoCloseable announcement) {
        announcements.push(new NamedResource(name, announcement));
    }

    /// Returns the address of the HTTP server for operators.
    public InetSocketAddress opsAddress() {
        return ops.address();
    }

    /// Serves until SIGTERM or SIGINT. Does not return: the process exits 0 if everything ended in time, else 1.
    ///
    /// @param settings the process's configuration, logged once. It is logged this late because formatting every
    ///     value takes 0.1 s of the 0.6 s allowed until the first RPC
    public int await(Record settings) throws InterruptedException {
        Runtime.getRuntime()
                .addShutdownHook(Thread.ofPlatform().name("shutdown").unstarted(() -> {
                    // otherwise the virtual machine would exit 143, and would wait for other hooks
                    ImmediateExit.with(stop() ? 0 : 1);
                }));
        LOG.atInfo().addKeyValue("config", settings).log("started");
        stopped.await();
        return 0;
    }

    /// Shuts down within the configured time. A second call waits for the first.
    ///
    /// @return whether every RPC and every resource ended in time
    public boolean stop() {
        if (!stopping.getAndSet(true)) {
            Thread.ofPlatform().daemon().name("closing").start(() -> {
                clean = closeAll();
                stopped.countDown();
            });
        }
        try {
            if (!stopped.await(config.shutdown().toMillis(), TimeUnit.MILLISECONDS)) {
                LOG.atError()
                        .addKeyValue("after_s", config.shutdown().toSeconds())
                        .log("the shutdown hangs");
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return clean;
    }

    private boolean closeAll() {
        LOG.atInfo().log("shutting down");
        boolean all = close(new NamedResource("readiness", readiness));
        for (NamedResource named : taken(announcements)) {
            all &= close(named);
        }
        AtomicBoolean drained = new AtomicBoolean();
        all &= close(new NamedResource("socket", () -> drained.set(server.drain(config.drain()))));
        if (!drained.get()) {
            LOG.atWarn().addKeyValue("after_s", config.drain().toSeconds()).log("cancelled the RPCs in progress");
        }
        for (NamedResource named : taken(resources)) {
            all &= close(named);
        }
        all &= close(new NamedResource("http", ops));
        LOG.atInfo().addKeyValue("clean", all && drained.get()).log("ended");
        return all && drained.get();
    }

    private synchronized List<NamedResource> taken(Deque<NamedResource> given) {
        return List.copyOf(given);
    }

    private static boolean close(NamedResource named) {
        FutureTask<Boolean> closing = new FutureTask<>(() -> {
            named.resource().close();
            return true;
        });
        closing.run();
        try {
            return closing.get();
        } catch (ExecutionException e) {
            // the others must still be closed
            LOG.atWarn()
                    .setCause(e.getCause())
                    .addKeyValue("resource", named.name())
                    .log("could not be closed");
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return false;
    }
}
