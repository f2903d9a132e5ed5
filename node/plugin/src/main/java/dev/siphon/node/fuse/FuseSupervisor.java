package dev.siphon.node.fuse;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.ByteSize;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.server.Deadlines;
import dev.siphon.node.linux.ChildProcess;
import dev.siphon.node.linux.MemoryGroups;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs FUSE processes outside the node's process. Each has its own control group, so that one that exceeds its
/// memory limit is killed alone. A total limit keeps an account from taking the node's memory with many processes.
public final class FuseSupervisor implements FuseProcesses {
    private static final Logger LOG = LoggerFactory.getLogger(FuseSupervisor.class);

    /// How often the total is checked.
    private static final Duration LOOK = Duration.ofSeconds(1);

    private final FuseChildren children = new FuseChildren();
    private final KeyedOperations starts = new KeyedOperations();
    private final RunningFuse running = new RunningFuse();
    private final Optional<MemoryGroups> groups;
    private final FuseLimits limits;
    private final Counter ends;

    /// @param groups creates control groups; if empty, processes have no limit of their own
    /// @param limits the memory limits
    public FuseSupervisor(Optional<MemoryGroups> groups, FuseLimits limits, PrometheusRegistry metrics) {
        this.groups = groups;
        this.limits = limits;
        ends = Counter.builder()
                .name("siphon_fuse_ends_total")
                .help("FUSE processes that ended: unmounted, memory (at their limit), total_memory (at the limit"
                        + " of all), signal or failed.")
                .labelNames("program", "end")
                .register(metrics);
        gauge(metrics, "siphon_fuse_processes", "Running FUSE processes.", running::count);
        gauge(
                metrics,
                "siphon_fuse_memory_bytes",
                "Memory of FUSE processes, without their programs and libraries.",
                running::bytes);
    }

    private static void gauge(PrometheusRegistry metrics, String name, String help, ToLongFunction<FuseProgram> value) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .labelNames("program")
                .callback(callback -> Arrays.stream(FuseProgram.values())
                        .forEach(program -> callback.call((double) value.applyAsLong(program), program.command())))
                .register(metrics);
    }

    /// Enforces the total limit until the task is closed: while it is exceeded, kills the largest process of the
    /// owner with the most memory.
    public BackgroundTasks.Task boundTotal(BackgroundTasks tasks) {
        return tasks.every("fuse-memory", LOOK, LOOK, () -> running.endExcess(limits.totalBytes()));
    }

    /// Starts the program, and kills it if the caller goes away: the caller will start another one.
    @Override
    public ChildProcess.StartOutcome start(FuseStart start, Duration limit) {
        return starts.run(start.mountPoint().toString(), () -> {
            Optional<MountEntry> there = MountTable.read().at(start.mountPoint().toString());
            if (there.isPresent()) {
                return alreadyMounted(start, there.get());
            }
            return children.start(start, limit, () -> isServed(start), process -> watch(start, process));
        });
    }

    private static ChildProcess.StartOutcome alreadyMounted(FuseStart start, MountEntry there) {
        if (start.program().serves(there, start.tag())) {
            return new ChildProcess.StartOutcome(true, true, "");
        }
        throw new DriverException.OperationPending(
                start.mountPoint() + " is already a mount of " + there.source() + "; retry when that is unmounted");
    }

    private static boolean isServed(FuseStart start) {
        if (FuseChildren.isServed(start)) {
            return true;
        }
        if (Deadlines.callerGone()) {
            throw new DriverException.DeadlinePassed(
                    "the caller gave up on the mount at " + start.mountPoint() + ", so its program was ended");
        }
        return false;
    }

    @Override
    public boolean awaitEnd(FuseProgram program, String tag, Duration limit) {
        return children.awaitEnd(program, tag, limit);
    }

    private void watch(FuseStart start, Process process) {
        running.add(start, process);
        Optional<MemoryGroups.Group> group = groups.flatMap(each -> limit(each, start, process));
        var _ = process.onExit().thenAccept(ended -> ended(start, ended, group));
    }

    /// Sets the memory limit; failures are only logged, because a program without a limit still serves.
    private Optional<MemoryGroups.Group> limit(MemoryGroups all, FuseStart start, Process process) {
        long pid = process.pid();
        try {
            MemoryGroups.Group group = all.create(start.program().command() + "-" + pid, limits.processBytes());
            // Java frees the number of a process that has ended, and another process of the node may get it
            if (process.isAlive()) {
                group.add(pid);
            }
            return Optional.of(group);
        } catch (UncheckedIOException e) {
            LOG.atWarn()
                    .addKeyValue("program", start.program().command())
                    .addKeyValue("pid", pid)
                    .setCause(e)
                    .log("a FUSE process runs without a memory limit");
            return Optional.empty();
        }
    }

    private void ended(FuseStart start, Process process, Optional<MemoryGroups.Group> group) {
        Optional<MemoryExcess> excess = running.remove(process);
        FuseEnd end = FuseEnd.of(
                process.exitValue(), group.map(MemoryGroups.Group::kills).orElse(0L), excess.isPresent());
        ends.labelValues(start.program().command(), end.label()).inc();
        group.ifPresent(MemoryGroups.Group::remove);
        var event = (end == FuseEnd.UNMOUNTED ? LOG.atInfo() : LOG.atWarn())
                .addKeyValue("program", start.program().command())
                .addKeyValue("pid", process.pid())
                .addKeyValue("mount", start.tag())
                .addKeyValue("exit_code", process.exitValue())
                .addKeyValue("end", end.label());
        event.log(
                switch (end) {
                    case UNMOUNTED -> "a FUSE process ended after its unmount";
                    case MEMORY ->
                        "a FUSE process was ended at its memory limit of " + ByteSize.text(limits.processBytes())
                                + ": recreate the pods that use its mount; give it more memory or smaller caches";
                    case TOTAL_MEMORY ->
                        "a FUSE process was ended because "
                                + excess.map(each -> each.describe(limits.totalBytes()))
                                        .orElse("")
                                + ": recreate the pods that use its mount; give all processes more memory, or that"
                                + " owner fewer mounts on a node";
                    case SIGNAL -> "a FUSE process was ended by a signal: recreate the pods that use its mount";
                    case FAILED -> "a FUSE process gave up: recreate the pods that use its mount";
                });
    }
}
