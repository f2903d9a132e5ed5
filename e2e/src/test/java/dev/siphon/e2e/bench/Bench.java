package dev.siphon.e2e.bench;

import dev.siphon.csi.VolumeId;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.SecretsFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// Times each call to a CSI driver and, in turns on the same cluster, the bare mgr commands.
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description =
                "Times a CSI driver's calls and the raw mgr commands beside them; runs in a lab. One JSON line per"
                        + " RPC and per bound; exit 1 when a bound is missed.")
public final class Bench implements Callable<Integer> {
    @Option(names = "--controller-endpoint", required = true, description = "unix://PATH of the controller.")
    private String controllerEndpoint = "";

    @Option(names = "--node-endpoint", required = true, description = "unix://PATH of the node.")
    private String nodeEndpoint = "";

    @Option(names = "--parameters", split = ",", description = "Parameters of the class: KEY=VALUE,...")
    private Map<String, String> parameters = new LinkedHashMap<>();

    @Option(names = "--secrets-file", description = "Secrets of the calls, in csi-sanity's format.")
    private Optional<Path> secretsFile = Optional.empty();

    @Option(names = "--callers", split = ",", defaultValue = "1,32", description = "How many call at once.")
    private List<Integer> callers = List.of();

    @Option(names = "--count", defaultValue = "200", description = "Volumes per round, driver and raw alike.")
    private int count;

    @Option(names = "--rounds", defaultValue = "5", description = "Rounds of driver and raw in turns.")
    private int rounds;

    @Option(names = "--node-count", defaultValue = "32", description = "Volumes to stage and publish.")
    private int nodeCount;

    @Option(
            names = "--with-present",
            defaultValue = "2000",
            description = "Also times CreateVolume with this many volumes present; 0 for not.")
    private int present;

    @Option(
            names = "--raw-group",
            description = "The subvolumegroup for raw subvolumes (default: that of the driver's volumes, if it is"
                    + " Siphon, else bench).")
    private Optional<String> rawGroup = Optional.empty();

    @Option(names = "--raw-uid", defaultValue = "10001", description = "Owner of raw subvolumes.")
    private int rawUid;

    @Option(names = "--size", defaultValue = "1073741824", description = "Bytes of each volume.")
    private long bytes;

    /// Runs in a lab.
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Bench()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException {
        Lab lab = Lab.here();
        Path mounts = Files.createTempDirectory("siphon-bench-");
        Bounds bounds = new Bounds(System.out);
        try (CsiClient controller = CsiClient.to(UnixEndpoint.parse(controllerEndpoint));
                CsiClient node = CsiClient.to(UnixEndpoint.parse(nodeEndpoint));
                CephTree tree = CephTree.mount(lab)) {
            DriverCalls driver = new DriverCalls(
                    controller,
                    node,
                    parameters,
                    secretsFile.map(SecretsFile::read).orElse(Map.of()),
                    bytes,
                    mounts);
            Names names = new Names();
            try (RawCommands raw = new RawCommands(lab, group(driver, names), bytes, rawUid)) {
                Rounds measured = new Rounds(driver, raw, tree, names);
                measured.warmUp();
                for (int each : callers) {
                    measured.compare(each, Math.max(count, each), rounds, bounds);
                }
                for (int each : callers) {
                    measured.node(each, nodeCount);
                }
                if (present > 0) {
                    measured.withPresent(present, count, rounds, bounds);
                }
            }
        } finally {
            removeEmpty(mounts);
        }
        return bounds.allMet() ? 0 : 1;
    }

    /// Returns the group of the driver's volumes, so that raw subvolumes go into the same one.
    private String group(DriverCalls driver, Names names) {
        String probe = names.take(1).getFirst();
        if (!driver.create(probe)) {
            throw new IllegalStateException("the driver made no volume");
        }
        Optional<VolumeId> id = VolumeId.tryParse(driver.id(probe));
        driver.delete(probe);
        return rawGroup.or(() -> id.filter(VolumeId.Provisioned.class::isInstance)
                        .map(VolumeId.Provisioned.class::cast)
                        .map(VolumeId.Provisioned::group))
                .orElse("bench");
    }

    private static void removeEmpty(Path folder) throws IOException {
        List<Path> all = new ArrayList<>();
        try (var walk = Files.walk(folder)) {
            walk.forEach(all::add);
        }
        for (Path path : all.reversed()) {
            Files.delete(path);
        }
    }
}
