package dev.siphon.node;

import dev.siphon.csi.QuotedText;
import dev.siphon.csi.server.ConfigProblems;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.registration.KubeletPlugin;
import dev.siphon.node.topology.MachineRoots;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Option;

/// The node's flags for GPUs and the devices near them, for picocli's `@Mixin`.
final class DeviceOptions {
    @Option(
            names = "--pod-resources",
            paramLabel = "SOCKET",
            defaultValue = "${env:SIPHON_POD_RESOURCES:-}",
            description = "The kubelet's socket that tells which devices pods hold (default: pod-resources/kubelet.sock"
                    + " beside --kubelet-registration-dir; without both flags, devices stay unknown).")
    private String podResources = "";

    @Option(
            names = "--second-replica",
            paramLabel = "WHEN",
            defaultValue = "${env:SIPHON_SECOND_REPLICA:-if-room}",
            description = "Whether to fill another replica near a pod's GPUs if the dataset's replica is far: if-room,"
                    + " which evicts none, or never (default: if-room).")
    private String second = "";

    @Option(
            names = "--sys",
            hidden = true,
            defaultValue = "${env:SIPHON_SYS:-/sys}",
            description = "The path of sysfs, or of a recording of another machine's.")
    private Path sys = Path.of("/sys");

    @Option(
            names = "--proc",
            hidden = true,
            defaultValue = "${env:SIPHON_PROC:-/proc}",
            description = "The path of proc, likewise; it describes GPUs and cache directories.")
    private Path proc = Path.of("/proc");

    ConfigProblems.ParsedValue<DeviceConfig> read(
            ConfigProblems problems, ConfigProblems.ParsedValue<Optional<KubeletPlugin>> registration) {
        var fills = problems.read("--second-replica", () -> fillsSecond(second));
        var socket = problems.read(
                "--pod-resources",
                registration,
                plugin -> podResources.isEmpty()
                        ? plugin.map(KubeletPlugin::podResources)
                        : Optional.of(new UnixEndpoint(Path.of(podResources))));
        return problems.readIfNone(() -> new DeviceConfig(socket.get(), new MachineRoots(sys, proc), fills.get()));
    }

    private static boolean fillsSecond(String when) {
        return switch (when) {
            case "if-room" -> true;
            case "never" -> false;
            default -> throw new IllegalArgumentException(QuotedText.of(when) + " must be if-room or never");
        };
    }
}
