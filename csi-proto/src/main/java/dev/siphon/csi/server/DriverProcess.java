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

/// A driver's process from its start to its end.
///
/// The socket is up first, so that a sidecar's first RPC is answered within a fraction of a second; backends
/// connect afterwards, and until they have, readiness says so. At SIGTERM: not ready, what was given to
/// [#closeFirst] closed, RPCs drained, then what was given to [#closeAtEnd] in reverse order. A native call may
/// hang in any of these for ever, so the whole has a deadline, after which the process halts.
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

    /// What makes a process the controller or the node.
    ///
    /// @param offers what Identity says that the driver can do
    /// @param services the CSI services beside Identity
    /// @param check whether the backends can be used
    /// @param metrics where the process's metrics are registered
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

    /// Serves CSI and the operators' HTTP.
    ///
    /// @throws StartFailure if the socket or the address cannot be had; nothing is left behind then
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

    /// Has `resource` closed when the process ends, after the RPCs have ended and before what was given earlier.
    public synchronized void closeAtEnd(String name, AutoCloseable resource) {
        resources.push(new NamedResource(name, resource));
    }

    /// Has `announcement`, which sends callers here, closed first of all when the process ends, while RPCs are
    /// still taken.
    public synchronized void closeFirst(String name, AutoCloseable announcement) {
        announcements.push(new NamedResource(name, announcement));
    }

    /// Where the operators' HTTP listens.
    public InetSocketAddress opsAddress() {
        return ops.address();
    }

    /// Serves until SIGTERM or SIGINT. Does not return: the process ends with 0 if everything ended in time, else
    /// with 1.
    ///
    /// @param settings what the process was started with, logged once. Only now: to spell out every value takes
    ///     0.1 s of the 0.6 s that the first RPC may
    public int await(Record settings) throws InterruptedException {
        Runtime.getRuntime()
                .addShutdownHook(Thread.ofPlatform().name("shutdown").unstarted(() -> {
                    // the virtual machine would end with 143 otherwise, and would wait for other hooks
                    ImmediateExit.with(stop() ? 0 : 1);
                }));
        LOG.atInfo().addKeyValue("config", settings).log("started");
        stopped.await();
        return 0;
    }

    /// Ends what the process does, within the configured time. A second call waits for the first.
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
            LOG.atWarn().addKeyValue("after_s", config.drain().toSeconds()).log("RPCs were broken off");
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
            // the others must be closed all the same
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
