package dev.siphon.node;

import dev.siphon.csi.Monitors;
import dev.siphon.csi.check.CheckOptions;
import dev.siphon.csi.check.CheckOutcome;
import dev.siphon.csi.check.Checklist;
import dev.siphon.csi.check.MonitorCheck;
import dev.siphon.csi.report.PrintOptions;
import dev.siphon.csi.server.ConfigProblems;
import dev.siphon.csi.server.JsonLogging;
import dev.siphon.node.check.HostChecks;
import dev.siphon.node.check.MountChecks;
import dev.siphon.node.mount.CephKey;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.slf4j.event.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/// `siphon check node`: checks whether a node has what it needs, and names a remedy for what is missing.
@Command(
        name = "node",
        description = {
            "Checks whether a node with these flags has what it needs.",
            "Checks the kernel's ceph, erofs, loop and idmapped mounts, ceph-fuse and its supervisor, the state",
            "directory, the kubelet and the monitors. One line for each, with a remedy if it failed. Changes nothing.",
            "Exits 1 if any failed."
        })
public final class CheckNodeCommand implements Callable<Integer> {
    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private NodeOptions options = new NodeOptions();

    @Mixin
    private CheckOptions check = new CheckOptions();

    @Mixin
    private PrintOptions printing = new PrintOptions();

    @Option(
            names = "--monitors",
            paramLabel = "LIST",
            defaultValue = "",
            description = "The monitors of a cluster, as in mon_host of ceph.conf (default: do not try any).")
    private String monitors = "";

    @Option(
            names = "--key-type",
            paramLabel = "TYPE",
            defaultValue = "${env:SIPHON_KEY_TYPE:-}",
            description = "aes or aes256k: the type of the volumes' keys, as 'siphon check controller' reports it"
                    + " (default: says what each type means for this node).")
    private String keyType = "";

    @Override
    public Integer call() {
        NodeConfig config = options.read(command);
        ConfigProblems problems = new ConfigProblems();
        var addresses = problems.read("--monitors", () -> given(monitors, Monitors::parse));
        var kind = problems.read("--key-type", () -> given(keyType, CephKey.Kind::parse));
        Checklist list = problems.orFail(command, () -> check.checklist(command));
        JsonLogging.start(Level.ERROR);
        new MountChecks(config.mounter(), kind.get()).run(list);
        new HostChecks(
                        config.stateDirectory(),
                        config.registration(),
                        config.devices().podResources(),
                        config.fuse().supervisor())
                .run(list);
        addresses
                .get()
                .ifPresentOrElse(
                        there -> MonitorCheck.run(list, "monitors", there),
                        () -> list.note("monitors", new CheckOutcome.Skipped("--monitors is not given")));
        printing.print(command, list.table());
        return list.exit();
    }

    private static <T> Optional<T> given(String text, Function<String, T> parse) {
        return Optional.of(text).filter(value -> !value.isEmpty()).map(parse);
    }
}
