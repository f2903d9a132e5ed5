package dev.siphon.controller.admin;

import dev.siphon.controller.Backend;
import dev.siphon.controller.admin.rpc.ControllerClient;
import dev.siphon.controller.audit.AccountChecks;
import dev.siphon.controller.audit.Auditor;
import dev.siphon.controller.audit.Finding;
import dev.siphon.controller.audit.ForeignIdentityChecks;
import dev.siphon.controller.audit.GracePeriods;
import dev.siphon.controller.audit.LeftoverDeletion;
import dev.siphon.controller.audit.Repairs;
import dev.siphon.controller.key.VolumeKeys;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.report.Table;
import dev.siphon.csi.report.Table.Cell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `siphon audit`: finds inconsistencies, and repairs them on request.
@Command(
        name = "audit",
        description = {
            "Finds what is wrong with volumes, quotas and keys, and repairs it with --repair --yes.",
            "Looks in every file system for orphans, broken or forged .meta files, hanging clones, quotas that differ",
            "from allowances, and keys without volumes. Changes nothing without --repair --yes, and may",
            "run beside the controller. Exits 1 if there is a defect; a remark is not a defect."
        })
public final class AuditCommand implements Callable<Integer> {
    private static final int FOUND = 1;

    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private AdminOptions options = new AdminOptions();

    @Mixin
    private LeaderOptions leader = new LeaderOptions();

    @Option(names = "--repair", description = "Show what would be repaired, and with --yes repair it.")
    private boolean repair;

    @Option(names = "--yes", description = "With --repair: do it. Never deletes what holds files or is in use.")
    private boolean yes;

    @Option(
            names = "--filling-hours",
            paramLabel = "HOURS",
            defaultValue = "24",
            description = "Hours that a volume from a snapshot or volume may take to become whole (default: 24).")
    private int fillingHours;

    @Option(
            names = "--orphan-hours",
            paramLabel = "HOURS",
            defaultValue = "24",
            description = "Hours that an empty volume may be without a PersistentVolume (default: 24).")
    private int orphanHours;

    @Option(
            names = "--trash-hours",
            paramLabel = "HOURS",
            defaultValue = "6",
            description = "Hours that a removed volume may wait to be purged (default: 6).")
    private int trashHours;

    @Option(
            names = "--pause",
            paramLabel = "SECONDS",
            defaultValue = "15",
            description = "Seconds after which the audit looks again; only what is still wrong counts (default: 15).")
    private int pauseSeconds;

    @Option(
            names = "--lost-kubernetes",
            paramLabel = "CODE",
            description = {
                "With --repair: the Kubernetes with this code is lost forever; a finding `other-kubernetes`"
                        + " names the code.",
                "Removes the identities of its nodes, unless a client still uses one of them."
            })
    private Set<String> lost = new HashSet<>();

    @Override
    public Integer call() {
        return options.run(command, backend -> {
            List<Finding> found = new ArrayList<>(auditor(backend).audit());
            found.addAll(others(backend).find());
            if (!repair || !yes) {
                options.print(command, table(found, repair ? "would be" : "repair"));
                return exit(found);
            }
            try (ControllerClient controller = leader.open(command)) {
                return mend(found, repairs(backend, controller));
            }
        });
    }

    private ForeignIdentityChecks others(Backend backend) {
        Optional<String> own = backend.owner();
        if (own.filter(lost::contains).isPresent()) {
            throw new ParameterException(
                    command.commandLine(),
                    "--lost-kubernetes " + own.get() + " is the Kubernetes that this controller is in");
        }
        return new ForeignIdentityChecks(
                backend.ceph().ports().clusters(), backend.ceph().identities(), own, lost);
    }

    private Auditor auditor(Backend backend) {
        return new Auditor(
                backend.ceph().ports().clusters(),
                backend.ceph().survey(),
                backend.ceph().identities(),
                kept(backend),
                new AccountChecks(backend.directory()),
                new GracePeriods(
                        Duration.ofHours(fillingHours),
                        Duration.ofHours(orphanHours),
                        Duration.ofHours(trashHours),
                        Duration.ofSeconds(pauseSeconds)),
                AuditCommand::pass);
    }

    private static Auditor.Kept kept(Backend backend) {
        return new Auditor.Kept(
                backend.keys(), backend.kubernetes().map(kubernetes -> kubernetes::volumesWithPersistentVolume));
    }

    private static Repairs repairs(Backend backend, ControllerClient controller) {
        return new Repairs(
                backend.ceph().ports(),
                backend.ceph().survey(),
                backend.ceph().identities(),
                backend.keys(),
                backend.keys()
                        .map(store -> new VolumeKeys(
                                backend.ceph().ports(),
                                backend.ceph().identities(),
                                store,
                                () -> Duration.ofMinutes(1))),
                new LeftoverDeletion(
                        backend.ceph().survey(), backend.ceph().clientSessions(), kept(backend), controller::delete));
    }

    /// Repairs each finding; a failure does not block the others.
    private int mend(List<Finding> found, Repairs repairs) {
        Table table = columns("done");
        boolean left = false;
        for (Finding finding : found) {
            boolean done = false;
            String words = finding.repair().toString();
            try {
                done = repairs.repair(finding.repair());
            } catch (DriverException refused) {
                words = "failed: " + refused.getMessage();
            }
            left |= !done && finding.kind().isDefect();
            row(table, finding, done ? "done: " + words : words);
        }
        options.print(command, table);
        return left ? FOUND : 0;
    }

    private static int exit(List<Finding> found) {
        return found.stream().anyMatch(finding -> finding.kind().isDefect()) ? FOUND : 0;
    }

    private static Table table(List<Finding> found, String heading) {
        Table table = columns(heading);
        found.forEach(finding -> row(table, finding, finding.repair().toString()));
        return table;
    }

    private static Table columns(String last) {
        return new Table("finding", "severity", "object", "why", last.replace(' ', '_'));
    }

    private static void row(Table table, Finding finding, String repair) {
        table.row(
                new Cell.Text(finding.kind().toString()),
                new Cell.Text(finding.kind().isDefect() ? "defect" : "remark"),
                new Cell.Text(finding.object()),
                new Cell.Text(finding.why()),
                new Cell.Text(repair));
    }

    private static void pass(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
