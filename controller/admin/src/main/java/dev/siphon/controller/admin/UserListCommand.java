package dev.siphon.controller.admin;

import dev.siphon.controller.Backend;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.GroupUsage;
import dev.siphon.controller.volume.GroupUsage.GroupStanding;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.UsageCalculator;
import dev.siphon.controller.volume.Volumes;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.report.Table;
import dev.siphon.csi.report.Table.Cell;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `siphon user list`: lists every account that has something, and how much of its allowance is used. Only reads
/// the file systems and the directory; sends nothing to mons and mgrs.
@Command(
        name = "list",
        description = {
            "Lists the accounts that have volumes, and what they have.",
            "Shows the allowance (the quota in force), how much is committed to volumes and snapshots, how much is",
            "written, and whether the directory still has the account."
        })
public final class UserListCommand implements Callable<Integer> {
    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private AdminOptions options = new AdminOptions();

    @Parameters(arity = "0..1", paramLabel = "ACCOUNT", description = "Only this one (group:NAME for a group).")
    private String only = "";

    /// An account in one file system.
    private record Row(
            String account,
            String uid,
            OptionalLong allowance,
            long committed,
            long used,
            long volumes,
            AccountState state,
            String fileSystem) {}

    private enum AccountState {
        ACTIVE,
        /// The directory no longer has the account.
        GONE,
        /// The directory does not answer.
        UNKNOWN
    }

    @Override
    public Integer call() {
        return options.run(command, this::list);
    }

    private int list(Backend backend) {
        CephPorts ports = backend.ceph().ports();
        Map<SubvolumeGroup, GroupStanding> groups = groups(ports);
        Optional<Map<String, Account>> accounts = accounts(backend);
        List<Row> rows = new ArrayList<>();
        groups.forEach((group, standing) -> {
            Optional<Account> account = accounts.map(all -> all.get(group.name()));
            AccountState state = accounts.isEmpty()
                    ? AccountState.UNKNOWN
                    : account.isPresent() ? AccountState.ACTIVE : AccountState.GONE;
            Optional<AccountNote> who = account.map(AccountNote::of).or(standing::account);
            if (only.isEmpty() || who.filter(it -> it.name().equals(only)).isPresent()) {
                row(ports, group, who, state).ifPresent(rows::add);
            }
        });
        if (rows.isEmpty() && !only.isEmpty()) {
            rows.add(nothing(backend));
        }
        rows.sort(Comparator.comparing(Row::account).thenComparing(Row::fileSystem));
        options.print(command, table(rows));
        return CommandLine.ExitCode.OK;
    }

    private static Map<SubvolumeGroup, GroupStanding> groups(CephPorts ports) {
        Map<SubvolumeGroup, GroupStanding> groups = new HashMap<>();
        for (String cluster : ports.clusters().ids()) {
            for (Clusters.FileSystem fileSystem : ports.clusters().fileSystems(cluster)) {
                for (GroupStanding standing : ports.files().standings(cluster, fileSystem.name())) {
                    SubvolumeGroup group = new SubvolumeGroup(cluster, fileSystem.name(), standing.group());
                    if (Volumes.isOurs(group)) {
                        groups.put(group, standing);
                    }
                }
            }
        }
        return groups;
    }

    /// Returns the accounts by the names of their groups; empty if the directory does not answer.
    private Optional<Map<String, Account>> accounts(Backend backend) {
        Map<String, Account> accounts = new HashMap<>();
        try {
            backend.directory().accounts(account -> accounts.put(SubvolumeGroup.nameOf(account), account));
            return Optional.of(accounts);
        } catch (DriverException.BackendUnavailable silent) {
            command.commandLine()
                    .getErr()
                    .println("siphon: cannot tell which accounts are gone: " + silent.getMessage());
            return Optional.empty();
        }
    }

    private static Optional<Row> row(
            CephPorts ports, SubvolumeGroup group, Optional<AccountNote> who, AccountState state) {
        try {
            GroupUsage groupUsage = ports.files().holdings(group);
            GroupStanding standing = groupUsage.standing();
            return Optional.of(new Row(
                    who.map(AccountNote::name).orElse(group.name()),
                    who.map(AccountNote::uid).orElse("?"),
                    standing.quotaBytes(),
                    UsageCalculator.committed(group, groupUsage),
                    standing.writtenBytes(),
                    UsageCalculator.volumes(groupUsage),
                    state,
                    group.cluster() + "/" + group.fileSystem()));
        } catch (DriverException.NotFound goneMeanwhile) {
            return Optional.empty();
        }
    }

    /// Returns the row of an account without volumes.
    private Row nothing(Backend backend) {
        Account account = backend.directory()
                .account(only)
                .orElseThrow(() -> new DriverException.NotFound(
                        "account " + QuotedText.of(only) + " has no volumes, and the directory has no such account"));
        String uid = AccountNote.of(account).uid();
        return new Row(only, uid, account.allowanceBytes(), 0, 0, 0, AccountState.ACTIVE, "-");
    }

    private static Table table(List<Row> rows) {
        Table table = new Table("account", "uid", "allowance", "committed", "used", "volumes", "state", "filesystem");
        for (Row row : rows) {
            table.row(
                    new Cell.Text(row.account()),
                    new Cell.Text(row.uid()),
                    row.allowance().isPresent() ? new Cell.Bytes(row.allowance().getAsLong()) : new Cell.Text("none"),
                    new Cell.Bytes(row.committed()),
                    new Cell.Bytes(row.used()),
                    new Cell.Count(row.volumes()),
                    new Cell.Text(row.state().name().toLowerCase(java.util.Locale.ROOT)),
                    new Cell.Text(row.fileSystem()));
        }
        return table;
    }
}
