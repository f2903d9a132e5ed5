package dev.siphon.node;

import dev.siphon.csi.server.ConfigProblems;
import dev.siphon.csi.server.JsonLogging;
import dev.siphon.node.topology.CacheDevices;
import dev.siphon.node.topology.MachineRoots;
import dev.siphon.node.topology.Topology;
import dev.siphon.node.topology.nvml.Nvml;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.slf4j.event.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `siphon topology`: how far GPUs and cache directories of a machine are apart.
@Command(
        name = "topology",
        description = {
            "Shows how far this machine's GPUs are from its cache directories.",
            "In the terms of `nvidia-smi topo -m`. Without a cache directory: how far they are from the NVMe disks, to"
                    + " choose one. It asks the kernel, and NVIDIA's library for MIG devices; changes nothing."
        })
public final class TopologyCommand implements Callable<Integer> {
    private static final Duration NVML_LIMIT = Duration.ofSeconds(10);

    @Spec
    private CommandSpec command = CommandSpec.create();

    @Option(
            names = "--cache-dir",
            split = ",",
            defaultValue = "${env:SIPHON_CACHE_DIRS:-}",
            paramLabel = "DIRECTORY[=SIZE]",
            description = "A cache directory, as the node's flag; may be repeated. It need not exist yet.")
    private List<String> directories = List.of();

    @Option(names = "--json", description = "Print one JSON object, for scripts.")
    private boolean json;

    @Option(
            names = "--sys",
            hidden = true,
            defaultValue = "/sys",
            description = "Where sysfs is, or a copy of another machine's; NVIDIA's library is not asked then.")
    private Path sys = Path.of("/sys");

    @Option(names = "--proc", hidden = true, defaultValue = "/proc", description = "The same of proc.")
    private Path proc = Path.of("/proc");

    @Override
    public Integer call() {
        ConfigProblems problems = new ConfigProblems();
        var named = problems.read(
                "--cache-dir",
                () -> directories.stream()
                        .filter(text -> !text.isEmpty())
                        .map(TopologyCommand::directory)
                        .toList());
        List<Path> paths = problems.orFail(command, named::get);
        JsonLogging.start(Level.ERROR);
        MachineRoots roots = new MachineRoots(sys, proc);
        Topology topology = Topology.read(roots);
        if (roots.equals(MachineRoots.live())) {
            topology = topology.with(Nvml.installed().migDevices(NVML_LIMIT));
        }
        TopologyReport report = new TopologyReport(
                topology,
                paths.stream().map(path -> CacheDevices.find(roots, path)).toList());
        (json ? List.of(report.json().toString()) : report.text())
                .forEach(command.commandLine().getOut()::println);
        command.commandLine().getOut().flush();
        return ExitCode.OK;
    }

    private static Path directory(String text) {
        int equals = text.lastIndexOf('=');
        Path directory = Path.of(equals < 0 ? text : text.substring(0, equals)).normalize();
        if (!directory.isAbsolute()) {
            throw new IllegalArgumentException("must be absolute: " + directory);
        }
        return directory;
    }
}
