package dev.siphon.controller.admin;

import dev.siphon.controller.Backend;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.Charges;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.Group;
import dev.siphon.controller.volume.Holdings;
import dev.siphon.controller.volume.Holdings.Standing;
import dev.siphon.controller.volume.Volumes;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Quoted;
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

/// `siphon user list`: every account that has something, and how much of its allowance is used up. Only reads, through
/// the file systems and the directory; the mons and mgrs of the clusters are asked nothing for it.
@Command(
        name = "list",
        description = {
            "Lists the accounts that have volumes, and what they have.",
            "That is: allowance (the quota in force), what is committed of it to volumes and snapshots, what is",
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
            State state,
            String fileSystem) {}

    /// What the directory says of an account.
    private enum State {
        ACTIVE,
        /// It has no such account any more.
        GONE,
        /// It does not answer.
        UNKNOWN
    }

    @Override
    public Integer call() {
        return options.run(command, this::list);
    }

    private int list(Backend backend) {
        CephPorts ports = backend.ceph().ports();
        Map<Group, Standing> groups = groups(ports);
        Optional<Map<String, Account>> accounts = accounts(backend);
        List<Row> rows = new ArrayList<>();
        groups.forEach((group, standing) -> {
            Optional<Account> account = accounts.map(all -> all.get(group.name()));
            State state = accounts.isEmpty() ? State.UNKNOWN : account.isPresent() ? State.ACTIVE : State.GONE;
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

    private static Map<Group, Standing> groups(CephPorts ports) {
        Map<Group, Standing> groups = new HashMap<>();
        for (String cluster : ports.clusters().ids()) {
            for (Clusters.FileSystem fileSystem : ports.clusters().fileSystems(cluster)) {
                for (Standing standing : ports.files().standings(cluster, fileSystem.name())) {
                    Group group = new Group(cluster, fileSystem.name(), standing.group());
                    if (Volumes.isOurs(group)) {
                        groups.put(group, standing);
                    }
                }
            }
        }
        return groups;
    }

    /// The accounts by the names of their groups; empty if the directory does not answer.
    private Optional<Map<String, Account>> accounts(Backend backend) {
        Map<String, Account> accounts = new HashMap<>();
        try {
            backend.directory().accounts(account -> accounts.put(Group.nameOf(account), account));
            return Optional.of(accounts);
        } catch (DriverException.BackendUnavailable silent) {
            command.commandLine()
                    .getErr()
                    .println("siphon: which accounts are gone is unknown: " + silent.getMessage());
            return Optional.empty();
        }
    }

    private static Optional<Row> row(CephPorts ports, Group group, Optional<AccountNote> who, State state) {
        try {
            Holdings holdings = ports.files().holdings(group);
            Standing standing = holdings.standing();
            return Optional.of(new Row(
                    who.map(AccountNote::name).orElse(group.name()),
                    who.map(AccountNote::uid).orElse("?"),
                    standing.quotaBytes(),
                    Charges.committed(group, holdings),
                    standing.writtenBytes(),
                    Charges.volumes(holdings),
                    state,
                    group.cluster() + "/" + group.fileSystem()));
        } catch (DriverException.NotFound goneMeanwhile) {
            return Optional.empty();
        }
    }

    /// An account that has no volume yet.
    private Row nothing(Backend backend) {
        Account account = backend.directory()
                .account(only)
                .orElseThrow(() -> new DriverException.NotFound(
                        "account " + Quoted.of(only) + " has no volumes, and the directory has no such account"));
        String uid = AccountNote.of(account).uid();
        return new Row(only, uid, account.allowanceBytes(), 0, 0, 0, State.ACTIVE, "-");
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
