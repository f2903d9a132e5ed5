package dev.siphon.controller;

import dev.siphon.controller.grant.FileGrantsStore;
import dev.siphon.controller.volume.Owners.OwnerRule;
import dev.siphon.controller.warm.GateSettings;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.server.ConfigProblems;
import dev.siphon.csi.server.ServerOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.event.Level;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/// The controller's flags, for picocli's `@Mixin`.
public final class ControllerOptions {
    @Mixin
    private ServerOptions server = new ServerOptions();

    @Mixin
    private BackendOptions backend = new BackendOptions();

    @Option(
            names = "--default-owner",
            defaultValue = "${env:SIPHON_DEFAULT_OWNER:-}",
            description = "The account that owns the volumes of classes without parameter owner (default: none).")
    private String defaultOwner = "";

    @Option(
            names = "--reconcile-interval",
            defaultValue = "${env:SIPHON_RECONCILE_INTERVAL:-60}",
            description = "Seconds between two comparisons of the accounts' quotas with the directory (default: 60).")
    private int reconcileSeconds;

    @Option(
            names = "--attach",
            defaultValue = "${env:SIPHON_ATTACH:-false}",
            description = "Attach volumes to nodes before use, and fence a node when a volume is detached;"
                    + " every pod starts seconds later (default: off).")
    private boolean attach;

    @Option(
            names = "--lead-as",
            paramLabel = "NAME",
            defaultValue = "${env:SIPHON_LEAD_AS:-}",
            description = "Serve only while this controller holds the Lease siphon-controller under this name,"
                    + " so that one of several serves; needs --kubernetes-namespace (default: it is the only one).")
    private String leadAs = "";

    @Option(
            names = "--grants-file",
            defaultValue = "${env:SIPHON_GRANTS_FILE:-}",
            description = "Publish in this file which namespaces may use whose volumes, for nodes with the same flag;"
                    + " not with --kubernetes-namespace (default: no grants are published).")
    private String grantsFile = "";

    @Option(
            names = "--datasets-file",
            paramLabel = "FILE",
            defaultValue = "${env:SIPHON_DATASETS_FILE:-}",
            description = "The datasets that claims may show, as JSON; not with --kubernetes-namespace, where they are"
                    + " objects (default: none).")
    private String datasetsFile = "";

    @Option(
            names = "--namespace-owner",
            paramLabel = "RULE",
            defaultValue = "${env:SIPHON_NAMESPACE_OWNER:-}",
            description = "The account that a namespace stands for as a reader of datasets, in the form of a"
                    + " class's parameter owner (default: the accounts in the namespace's annotation"
                    + " siphon.dev/owners).")
    private String namespaceOwner = "";

    @Option(
            names = "--gate-max-wait",
            paramLabel = "SECONDS",
            defaultValue = "${env:SIPHON_GATE_MAX_WAIT:-600}",
            description = "Longest wait, in seconds, of a pod with the scheduling gate siphon.dev/dataset for its"
                    + " dataset to be on a node's disk; the pod may set another (default: 600).")
    private int gateSeconds;

    @Option(
            names = "--gate-nodes",
            paramLabel = "N",
            defaultValue = "${env:SIPHON_GATE_NODES:-2}",
            description = "Least number of nodes to fill with the dataset of such a pod; if fewer suit the pod,"
                    + " all of them (default: 2).")
    private int gateNodes;

    @Option(
            names = "--fills-in-cluster",
            paramLabel = "N",
            defaultValue = "${env:SIPHON_FILLS_IN_CLUSTER:-0}",
            description = "How many nodes of the cluster may copy a dataset to their disks at the same time; the others"
                    + " wait for their turns, if they run with --fill-turns. 0 means no limit (default: 0).")
    private int fillsInCluster;

    @Option(
            names = "--kueue",
            defaultValue = "${env:SIPHON_KUEUE:-false}",
            description = "Answer the AdmissionChecks of Kueue whose controllerName is siphon.dev/dataset; needs"
                    + " --kubernetes-namespace (default: false).")
    private boolean kueue;

    Level logLevel() {
        return server.logLevel();
    }

    /// Reads the flags.
    ///
    /// @throws picocli.CommandLine.ParameterException naming every invalid flag
    public ControllerConfig read(CommandSpec command) {
        ConfigProblems problems = new ConfigProblems();
        var serverConfig = server.read(problems);
        var backendConfig = backend.read(problems);
        var grants = problems.read(
                "--grants-file",
                () -> Optional.of(grantsFile).filter(file -> !file.isEmpty()).map(ControllerOptions::forGrants));
        if (!grantsFile.isEmpty() && backend.hasKubernetes()) {
            problems.add("--grants-file", "does not go with --kubernetes-namespace, where grants are a ConfigMap");
        }
        if (!leadAs.isEmpty() && !backend.hasKubernetes()) {
            problems.add("--lead-as", "needs --kubernetes-namespace");
        }
        if (!datasetsFile.isEmpty() && backend.hasKubernetes()) {
            problems.add("--datasets-file", "does not go with --kubernetes-namespace, where datasets are objects");
        }
        if (kueue && !backend.hasKubernetes()) {
            problems.add("--kueue", "needs --kubernetes-namespace");
        }
        var namespaces = problems.read("--namespace-owner", () -> namespaceOwner(namespaceOwner));
        var gates = problems.read(
                "--gate-max-wait, --gate-nodes, --fills-in-cluster",
                () -> new GateSettings(Duration.ofSeconds(gateSeconds), gateNodes, fillsInCluster));
        var reconcileEvery = problems.read("--reconcile-interval", () -> atLeastOne(reconcileSeconds));
        return problems.orFail(
                command,
                () -> new ControllerConfig(
                        serverConfig.get(),
                        backendConfig.get(),
                        Optional.of(defaultOwner).filter(owner -> !owner.isEmpty()),
                        reconcileEvery.get(),
                        attach,
                        Optional.of(leadAs).filter(name -> !name.isEmpty()),
                        grants.get(),
                        Optional.of(datasetsFile)
                                .filter(file -> !file.isEmpty())
                                .map(Path::of),
                        namespaces.get(),
                        gates.get(),
                        kueue));
    }

    private static Duration atLeastOne(int seconds) {
        if (seconds < 1) {
            throw new IllegalArgumentException("need at least 1 second");
        }
        return Duration.ofSeconds(seconds);
    }

    private static Optional<OwnerRule> namespaceOwner(String rule) {
        try {
            return Optional.of(rule).filter(given -> !given.isEmpty()).map(OwnerRule::parse);
        } catch (DriverException.InvalidRequest wrong) {
            throw new IllegalArgumentException(wrong.getMessage());
        }
    }

    private static Path forGrants(String text) {
        Path file = Path.of(text);
        var _ = new FileGrantsStore(file);
        return file;
    }
}
