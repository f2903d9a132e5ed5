package dev.siphon.controller.admin;

import dev.siphon.controller.Backend;
import dev.siphon.controller.kubernetes.KubernetesAdapter;
import dev.siphon.controller.recovery.Document;
import dev.siphon.controller.recovery.Recovery;
import java.io.PrintWriter;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `siphon recover`: prints the objects of a lost Kubernetes, from what Ceph has.
@Command(
        name = "recover",
        description = {
            "Prints the Kubernetes objects of volumes, datasets and snapshots, for kubectl apply.",
            "Use it when Kubernetes was lost and Ceph was kept. Prints PersistentVolumes with their claims,"
                    + " Datasets with",
            "their readers, and VolumeSnapshots. Comments say what is not known. Volumes that have a PersistentVolume",
            "here are left out. Only reads."
        })
public final class RecoverCommand implements Callable<Integer> {
    enum What {
        VOLUMES,
        DATASETS,
        SNAPSHOTS;

        @Override
        public String toString() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private AdminOptions options = new AdminOptions();

    @Option(
            names = "--account",
            paramLabel = "NAME",
            description = "Only what belongs to this account (or group:NAME).")
    private Optional<String> account = Optional.empty();

    @Option(
            names = "--namespace",
            paramLabel = "NAME",
            description = "Only objects that are known to have been in this namespace.")
    private Optional<String> namespace = Optional.empty();

    @Option(
            names = "--only",
            paramLabel = "WHAT",
            split = ",",
            description = "Only these of volumes, datasets, snapshots; with commas.")
    private Set<What> only = EnumSet.allOf(What.class);

    @Override
    public Integer call() {
        return options.run(command, this::print);
    }

    private int print(Backend backend) {
        KubernetesAdapter kubernetes = backend.kubernetes()
                .orElseThrow(() -> new ParameterException(
                        command.commandLine(),
                        "--kubernetes-namespace is needed: the objects are for the Kubernetes where Siphon is"
                                + " installed"));
        Recovery recovery = new Recovery(
                backend.ceph().ports(),
                backend.directory(),
                kubernetes.volumesWithPersistentVolume(),
                new Recovery.Installed(options.driverName(), kubernetes.namespace()));
        Recovery.Wanted wanted = new Recovery.Wanted(account, namespace);
        PrintWriter out = command.commandLine().getOut();
        Consumer<Document> print = document -> out.print(document.text());
        if (only.contains(What.VOLUMES)) {
            recovery.volumes(wanted, print);
        }
        if (only.contains(What.DATASETS)) {
            recovery.datasets(wanted, print);
        }
        if (only.contains(What.SNAPSHOTS)) {
            recovery.snapshots(wanted, print);
        }
        out.flush();
        return CommandLine.ExitCode.OK;
    }
}
