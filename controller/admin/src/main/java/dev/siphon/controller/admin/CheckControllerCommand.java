package dev.siphon.controller.admin;

import dev.siphon.controller.Backend;
import dev.siphon.controller.check.ClusterChecks;
import dev.siphon.controller.check.ControllerCaps.Feature;
import dev.siphon.controller.check.DirectoryChecks;
import dev.siphon.controller.check.KubernetesChecks;
import dev.siphon.controller.check.RookChecks;
import dev.siphon.csi.check.CheckOptions;
import dev.siphon.csi.check.Checklist;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `siphon check controller`: checks the controller's prerequisites, and prints a remedy for each that fails.
@Command(
        name = "controller",
        description = {
            "Checks whether a controller with these flags has what it needs.",
            "Checks monitors, the release of Ceph, file systems, the mgr's module volumes, caps, the type of"
                    + " keys, Rook,",
            "the directory, Kubernetes. Prints a line for each, with a remedy if it failed. Changes nothing."
                    + " Exits 1 if any failed."
        })
public final class CheckControllerCommand implements Callable<Integer> {
    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private AdminOptions options = new AdminOptions();

    @Mixin
    private CheckOptions check = new CheckOptions();

    @Option(
            names = "--fs",
            paramLabel = "NAME",
            split = ",",
            description = "The file system that volumes are made in; several with commas (default: all).")
    private List<String> fileSystems = List.of();

    @Option(
            names = "--account",
            paramLabel = "NAME",
            defaultValue = "",
            description = "An account to look up in the directory, or group:NAME (default: none).")
    private String account = "";

    @Option(
            names = "--rook-namespace",
            paramLabel = "NS",
            defaultValue = "rook-ceph",
            description =
                    "The namespace of Rook's cluster, if the clusters file does not name it (default:" + " rook-ceph).")
    private String rookNamespace = "";

    @Option(
            names = "--attach",
            defaultValue = "${env:SIPHON_ATTACH:-false}",
            description = "The controller has this flag, which needs more caps.")
    private boolean attach;

    @Option(
            names = "--key-commands",
            description = "The identity is also for 'siphon key rotate' and 'siphon key revoke', which need more caps.")
    private boolean keyCommands;

    @Override
    public Integer call() {
        Checklist list = check.checklist(command);
        return options.run(command, backend -> {
            runChecks(list, backend);
            options.print(command, list.table());
            return list.exit();
        });
    }

    private void runChecks(Checklist list, Backend backend) {
        var clusters = new ClusterChecks(backend.ceph().state(), backend.ceph().keyTypes(), fileSystems, uses(backend));
        var rook = new RookChecks(backend.ceph().state(), backend.kubernetes(), backend.monitors(), rookNamespace);
        backend.ceph()
                .ports()
                .clusters()
                .ids()
                .forEach(cluster -> rook.run(list, cluster, clusters.run(list, cluster)));
        new DirectoryChecks(
                        backend.directory(),
                        options.directoryInWords(),
                        Optional.of(account).filter(name -> !name.isEmpty()))
                .run(list);
        new KubernetesChecks(backend.kubernetes()).run(list);
    }

    private List<Feature> uses(Backend backend) {
        List<Feature> uses = new ArrayList<>();
        backend.keys().ifPresent(_ -> uses.add(Feature.KEYS));
        if (attach) {
            uses.add(Feature.ATTACH);
        }
        if (keyCommands) {
            uses.add(Feature.KEY_COMMANDS);
        }
        return uses;
    }
}
