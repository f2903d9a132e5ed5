package dev.siphon.controller.admin;

import dev.siphon.controller.Backend;
import dev.siphon.controller.explain.ClusterObjects;
import dev.siphon.controller.explain.FactSheet;
import dev.siphon.controller.explain.KnownPlaces;
import dev.siphon.controller.explain.Whois;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.report.Table;
import dev.siphon.csi.report.Table.Cell;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `siphon whois X`: from a path, code, identity, session, pod or claim to the account, and to all between. Only
/// reads.
@Command(
        name = "whois",
        description = {
            "Says whose something is, and what belongs to it: account, group, volume, PersistentVolume, claim, pods"
                    + " and nodes.",
            "X is a path in CephFS, the source of a mount, the code of a group or volume, a volume's id, client.NAME of",
            "an identity, client.NUMBER of a session, NAMESPACE/NAME of a pod, claim or dataset, the name of a",
            "PersistentVolume or account, a uid, or the back-file of a loop device. Changes nothing."
        })
public final class WhoisCommand implements Callable<Integer> {
    /// Wide enough for each kind of fact, with two spaces behind it.
    private static final int WIDTH = 12;

    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private AdminOptions options = new AdminOptions();

    @Parameters(paramLabel = "X", description = "What you found.")
    private String clue = "";

    @Override
    public Integer call() {
        return options.run(command, this::print);
    }

    /// Returns where a command reads, in the clusters, the directory and Kubernetes of `backend`.
    static KnownPlaces places(Backend backend) {
        return new KnownPlaces(
                backend.ceph().ports(),
                backend.ceph().identities(),
                backend.ceph().clientSessions(),
                backend.directory(),
                backend.kubernetes().map(adapter -> {
                    ClusterObjects objects = adapter.objects();
                    return new KnownPlaces.InKubernetes(
                            objects, adapter.datasets(), () -> adapter.warming().replicas());
                }));
    }

    private int print(Backend backend) {
        PartialFailures failures = new PartialFailures();
        try {
            List<FactSheet> sheets = new Whois(
                            places(backend), (what, why) -> failures.add(what + " could not be read", why.getMessage()))
                    .of(clue);
            print(sheets);
        } catch (DriverException.NotFound nobody) {
            boolean _ = failures.print(command);
            throw nobody;
        }
        boolean _ = failures.print(command);
        return CommandLine.ExitCode.OK;
    }

    private void print(List<FactSheet> sheets) {
        if (options.printsJson()) {
            Table table = new Table("thing", "what", "value");
            for (int i = 0; i < sheets.size(); i++) {
                for (FactSheet.Fact fact : sheets.get(i).facts()) {
                    table.row(new Cell.Count(i + 1), new Cell.Text(fact.what()), new Cell.Text(fact.value()));
                }
            }
            options.print(command, table);
            return;
        }
        PrintWriter out = command.commandLine().getOut();
        for (int i = 0; i < sheets.size(); i++) {
            if (i > 0) {
                out.println();
            }
            for (FactSheet.Fact fact : sheets.get(i).facts()) {
                out.println(
                        fact.what() + " ".repeat(Math.max(1, WIDTH - fact.what().length())) + fact.value());
            }
        }
        out.flush();
    }
}
