package dev.siphon.node;

import com.google.gson.JsonObject;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.server.ConfigProblems;
import dev.siphon.csi.server.JsonLogging;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.device.ClaimedDevices;
import dev.siphon.node.device.DeviceClaims;
import dev.siphon.node.device.HotMounts;
import dev.siphon.node.device.Machine;
import dev.siphon.node.device.PodDevices;
import dev.siphon.node.device.rpc.KubeletPodDevices;
import dev.siphon.node.kubernetes.ApiAccess;
import dev.siphon.node.kubernetes.ResourceClaimsApi;
import dev.siphon.node.mount.BlockingCalls;
import dev.siphon.node.pod.Pod;
import dev.siphon.node.topology.CacheDevices;
import dev.siphon.node.topology.MachineRoots;
import dev.siphon.node.topology.Topology;
import dev.siphon.node.topology.nvml.Nvml;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.slf4j.event.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `siphon topology`: shows the distances between a machine's GPUs and its cache directories.
@Command(
        name = "topology",
        description = {
            "Shows how far this machine's GPUs are from its cache directories.",
            "In the terms of `nvidia-smi topo -m`. Without a cache directory, it shows how far the NVMe disks are, to"
                    + " choose one. It asks the kernel, and NVIDIA's library for MIG devices; changes nothing."
        })
public final class TopologyCommand implements Callable<Integer> {
    private static final Duration NVML_LIMIT = Duration.ofSeconds(10);
    private static final Duration CLAIMS_LIMIT = Duration.ofSeconds(10);

    @Spec
    private CommandSpec command = CommandSpec.create();

    @Option(
            names = "--cache-dir",
            split = ",",
            defaultValue = "${env:SIPHON_CACHE_DIRS:-}",
            paramLabel = "DIRECTORY[=SIZE]",
            description = "A cache directory, as the node's flag; may be repeated. It need not exist yet.")
    private List<String> directories = List.of();

    @Option(
            names = "--pod",
            paramLabel = "NAMESPACE/NAME",
            defaultValue = "",
            description =
                    "A pod of this node: which devices it holds, and which cache directories are nearest to them.")
    private String pod = "";

    @Option(
            names = "--pod-resources",
            paramLabel = "SOCKET",
            defaultValue = "${env:SIPHON_POD_RESOURCES:-/var/lib/kubelet/pod-resources/kubelet.sock}",
            description = "The kubelet's socket that tells which devices pods hold (default: ${DEFAULT-VALUE}).")
    private Path podResources = Path.of("");

    @Option(names = "--json", description = "Print one JSON object, for scripts.")
    private boolean json;

    @Option(
            names = "--sys",
            hidden = true,
            defaultValue = "${env:SIPHON_SYS:-/sys}",
            description = "The path of sysfs, or of a copy of another machine's; then NVIDIA's library is not asked.")
    private Path sys = Path.of("/sys");

    @Option(
            names = "--proc",
            hidden = true,
            defaultValue = "${env:SIPHON_PROC:-/proc}",
            description = "The path of proc, likewise.")
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
        var wanted = problems.read(
                "--pod", () -> Optional.of(pod).filter(name -> !name.isEmpty()).map(TopologyCommand::pod));
        var socket = problems.read("--pod-resources", () -> new UnixEndpoint(podResources));
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
        Optional<PodReport> held = wanted.get().map(name -> of(name, socket.get(), roots, paths));
        (json ? List.of(json(report, held).toString()) : text(report, held))
                .forEach(command.commandLine().getOut()::println);
        command.commandLine().getOut().flush();
        return ExitCode.OK;
    }

    private static PodReport of(String[] pod, UnixEndpoint socket, MachineRoots roots, List<Path> paths) {
        try (BlockingCalls calls = new BlockingCalls()) {
            return PodReport.of(
                    String.join("/", pod),
                    devices(socket).of(Pod.named(pod[0], pod[1])),
                    new Machine(roots, paths, calls));
        }
    }

    /// Returns the sources of pods' devices: the kubelet, and in a pod of the node also claims, as the node does.
    private static PodDevices devices(UnixEndpoint socket) {
        PrometheusRegistry metrics = new PrometheusRegistry();
        Map<String, String> environment = System.getenv();
        DeviceClaims claims = ApiAccess.isPod(environment)
                ? Optional.ofNullable(environment.get("NODE_ID"))
                        .flatMap(NodeId::tryParse)
                        .<DeviceClaims>map(node -> new ResourceClaimsApi(ApiAccess.ofPod(environment), node, metrics))
                        .orElse(DeviceClaims.NONE)
                : DeviceClaims.NONE;
        KubeletPodDevices kubelet = new KubeletPodDevices(socket, metrics);
        return new ClaimedDevices(HotMounts.with(kubelet, kubelet), claims, CLAIMS_LIMIT);
    }

    private static List<String> text(TopologyReport report, Optional<PodReport> pod) {
        List<String> lines = new ArrayList<>(report.text());
        pod.ifPresent(known -> {
            lines.add("");
            lines.addAll(known.text());
        });
        return lines;
    }

    private static JsonObject json(TopologyReport report, Optional<PodReport> pod) {
        JsonObject json = report.json();
        pod.ifPresent(known -> json.add("pod", known.json()));
        return json;
    }

    private static String[] pod(String text) {
        String[] parts = text.split("/", -1);
        if (parts.length != 2 || parts[0].isEmpty() || parts[1].isEmpty()) {
            throw new IllegalArgumentException(QuotedText.of(text) + " must be NAMESPACE/NAME");
        }
        return parts;
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
