package dev.siphon.node;

import dev.siphon.csi.ByteSize;
import dev.siphon.csi.server.BackgroundMetrics;
import dev.siphon.csi.server.ConfigProblems;
import dev.siphon.csi.server.DriverProcess;
import dev.siphon.csi.server.JsonLogging;
import dev.siphon.csi.server.ServerConfig;
import dev.siphon.csi.server.ServerOptions;
import dev.siphon.csi.server.StartFailure;
import dev.siphon.node.fuse.FuseLimits;
import dev.siphon.node.fuse.FuseSupervisor;
import dev.siphon.node.fuse.rpc.FuseService;
import dev.siphon.node.linux.MemoryGroups;
import dev.siphon.node.linux.ProcMemory;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `siphon fuse`: runs ceph-fuse and erofsfuse for the node, so that mounts outlive the node's process and
/// container. Limits the memory of each process and of all together. It never mounts on its own, and stores no key.
@Command(
        name = "fuse",
        mixinStandardHelpOptions = true,
        description = "Runs ceph-fuse and erofsfuse for `siphon node --fuse-socket`, at --endpoint.")
public final class FuseMain implements Callable<Integer> {
    private static final Logger LOG = LoggerFactory.getLogger(FuseMain.class);

    /// With less, ceph-fuse does not start even with its smallest cache.
    private static final long LEAST_BYTES = 64 << 20;

    /// The default for all processes together is this fraction of the machine's memory: a quarter.
    private static final int USUAL_PART = 4;

    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private ServerOptions server = new ServerOptions();

    @Option(
            names = "--process-memory",
            paramLabel = "SIZE",
            defaultValue = "${env:SIPHON_PROCESS_MEMORY:-1Gi}",
            description = "Memory limit of each process; the kernel ends one that exceeds it, no other (default: 1Gi).")
    private String processMemory = "";

    @Option(
            names = "--total-memory",
            paramLabel = "SIZE",
            defaultValue = "${env:SIPHON_TOTAL_MEMORY:-}",
            description =
                    "Memory limit of all processes together; beyond it, the account with the most loses its largest one"
                            + " (default: a quarter of the machine's, and at least --process-memory).")
    private String totalMemory = "";

    /// @param server the server's settings
    /// @param memory the memory limits of the processes
    private record Config(ServerConfig server, FuseLimits memory) {}

    /// Serves until SIGTERM.
    @Override
    public Integer call() throws InterruptedException {
        ConfigProblems problems = new ConfigProblems();
        var serverConfig = server.read(problems);
        var memory = problems.read("--process-memory", () -> enough(ByteSize.bytes(processMemory)));
        var total = problems.read("--total-memory", memory, this::total);
        Config config = problems.orFail(
                command, () -> new Config(serverConfig.get(), new FuseLimits(memory.get(), total.get())));
        JsonLogging.start(server.logLevel());
        ownDirectory(config.server().endpoint().path());
        PrometheusRegistry metrics = new PrometheusRegistry();
        FuseSupervisor supervisor = new FuseSupervisor(groups(), config.memory(), metrics);
        DriverProcess process = DriverProcess.start(
                config.server(),
                new DriverProcess.Parts(List.of(), List.of(new FuseService(supervisor)), Optional::empty, metrics));
        process.closeAtEnd("fuse-memory", supervisor.boundTotal(BackgroundMetrics.tasks(metrics)));
        return process.await(config);
    }

    private long total(long processBytes) {
        if (totalMemory.isEmpty()) {
            return Math.max(processBytes, ProcMemory.machineBytes() / USUAL_PART);
        }
        long bytes = ByteSize.bytes(totalMemory);
        if (bytes < processBytes) {
            throw new IllegalArgumentException("must be at least --process-memory, " + ByteSize.text(processBytes)
                    + ", not " + ByteSize.text(bytes));
        }
        return bytes;
    }

    private static long enough(long bytes) {
        if (bytes < LEAST_BYTES) {
            throw new IllegalArgumentException(
                    "must be at least " + ByteSize.text(LEAST_BYTES) + ", not " + ByteSize.text(bytes));
        }
        return bytes;
    }

    /// Restricts the socket's directory to this user: anybody who could replace the socket would receive keys.
    private static void ownDirectory(Path socket) {
        Path directory = Objects.requireNonNull(socket.getParent(), "an absolute path has a parent");
        try {
            Files.createDirectories(directory);
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx------"));
        } catch (IOException e) {
            throw new StartFailure("cannot create the socket's directory " + directory, e);
        }
    }

    /// Returns the control groups; empty if none can be created. FUSE processes run without them too.
    private static Optional<MemoryGroups> groups() {
        try {
            return Optional.of(MemoryGroups.ofThisProcess());
        } catch (UncheckedIOException e) {
            LOG.atWarn().setCause(e).log("cannot create control groups: FUSE processes run without a memory limit");
            return Optional.empty();
        }
    }
}
