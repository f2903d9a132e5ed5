package dev.siphon.controller.admin;

import csi.v1.Volume;
import dev.siphon.controller.Backend;
import dev.siphon.controller.admin.rpc.ControllerClient;
import dev.siphon.controller.key.VolumeKeys;
import dev.siphon.controller.offboard.AccountGroups;
import dev.siphon.controller.offboard.Archiver;
import dev.siphon.controller.offboard.Export;
import dev.siphon.controller.offboard.Freezer;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.Homes;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.report.Table;
import dev.siphon.csi.report.Table.Cell;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `siphon user offboard`: for an account whose person leaves.
@Command(
        name = "offboard",
        description = {
            "Freezes, hands over or exports an account whose person leaves. Never deletes anything.",
            "Also works for accounts that the directory no longer has. May be repeated."
        })
final class OffboardCommand implements Callable<Integer> {
    private static final int FAILED = 1;

    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private AdminOptions options = new AdminOptions();

    @Mixin
    private LeaderOptions leader = new LeaderOptions();

    @Parameters(
            paramLabel = "ACCOUNT",
            description = "The account's name; or the name of its group, if two accounts had the same name.")
    private String account = "";

    @ArgGroup
    private What what = new What();

    static final class What {
        @Option(
                names = "--freeze",
                description = "Take its keys away, end the mounts that use them, and refuse to make anything"
                        + " for it; its volumes stay (default).")
        private boolean freeze;

        @Option(names = "--unfreeze", description = "End the freeze; its volumes get new keys.")
        private boolean unfreeze;

        @Option(
                names = "--hand-over",
                paramLabel = "OTHER",
                description = {
                    "Copy each of its volumes to a volume of that account; its own stay. Freeze it first: the"
                            + " copy lacks",
                    "what is written later, and a repeat does not copy that volume again."
                })
        private Optional<String> handOver = Optional.empty();

        @Option(
                names = "--export",
                paramLabel = "DIR",
                description = "Write each of its volumes to DIR/CLUSTER/FILESYSTEM/SUBVOLUME.tar, as root sees them.")
        private Optional<Path> export = Optional.empty();

        private boolean isFreezing() {
            return freeze || !(unfreeze || handOver.isPresent() || export.isPresent());
        }
    }

    @Override
    public Integer call() {
        return options.run(command, backend -> {
            PartialFailures failures = new PartialFailures();
            int status = FAILED;
            boolean failed = true;
            try {
                status = carryOut(backend, groups(backend, failures), failures);
            } finally {
                failed = failures.print(command);
            }
            return failed ? FAILED : status;
        });
    }

    private int carryOut(Backend backend, List<SubvolumeGroup> groups, PartialFailures failures) {
        if (what.export.isPresent()) {
            return export(backend, groups, what.export.get());
        }
        if (what.handOver.isPresent()) {
            return handOver(backend, groups, what.handOver.get());
        }
        return freeze(backend, groups, what.isFreezing(), failures);
    }

    /// Returns the account's groups; a cluster that does not answer does not block the others.
    private List<SubvolumeGroup> groups(Backend backend, PartialFailures failures) {
        try {
            return new AccountGroups(
                            backend.ceph().ports().clusters(), backend.ceph().survey(), backend.directory())
                    .of(account, (cluster, why) -> failures.add("cluster " + cluster, why.getMessage()));
        } catch (DriverException.NotFound nothing) {
            if (!what.isFreezing()) {
                throw nothing;
            }
            // it may read datasets without a group
            return List.of(freezer(backend)
                    .makeGroup(backend.directory().account(account).orElseThrow(() -> nothing)));
        } catch (DriverException.InvalidRequest ambiguous) {
            throw new ParameterException(command.commandLine(), ambiguous.getMessage(), ambiguous);
        }
    }

    private int freeze(Backend backend, List<SubvolumeGroup> groups, boolean freeze, PartialFailures failures) {
        Freezer freezer = freezer(backend);
        Table table = new Table("group", "state", "volumes", "keys", "sessions_ended", "note");
        List<Freezer.Result> results = new ArrayList<>();
        groups.forEach(group -> failures.collect(
                group.toString(), () -> results.add(freeze ? freezer.freeze(group) : freezer.unfreeze(group))));
        boolean whole = true;
        for (Freezer.Result result : results) {
            table.row(
                    new Cell.Text(result.group().toString()),
                    new Cell.Text(freeze ? result.unfinished().isEmpty() ? "frozen" : "not frozen" : "goes on"),
                    result.volumes().isPresent()
                            ? new Cell.Count(result.volumes().getAsInt())
                            : new Cell.Text("?"),
                    new Cell.Count(result.identities()),
                    new Cell.Count(result.sessions()),
                    new Cell.Text(note(result)));
            result.left().ifPresent(left -> failures.add(result.group().toString(), left));
            whole &= result.unfinished().isEmpty();
        }
        options.print(command, table);
        return whole ? 0 : FAILED;
    }

    private static Freezer freezer(Backend backend) {
        CephPorts ceph = backend.ceph().ports();
        return new Freezer(
                ceph,
                backend.ceph().identities(),
                backend.keys(),
                backend.keys()
                        .map(store ->
                                new VolumeKeys(ceph, backend.ceph().identities(), store, () -> Duration.ofMinutes(1))),
                backend.ceph().clientSessions());
    }

    private static String note(Freezer.Result result) {
        return Stream.concat(
                        result.unfinished().map(why -> why + "; run this again").stream(),
                        result.goOn().map(why -> "sessions stay until their tickets end: " + why).stream())
                .collect(Collectors.joining("; "));
    }

    private int handOver(Backend backend, List<SubvolumeGroup> groups, String other) {
        boolean itself = !other.isEmpty()
                && backend.directory()
                        .account(other)
                        .map(found -> CephNames.group(found.id()))
                        .filter(name ->
                                groups.stream().anyMatch(group -> group.name().equals(name)))
                        .isPresent();
        if (other.isEmpty() || itself) {
            throw new ParameterException(command.commandLine(), "--hand-over: name another account");
        }
        Table table = new Table("volume", "size", "copy", "note");
        boolean all = true;
        try (ControllerClient controller = leader.open(command)) {
            for (VolumeId.Provisioned volume : volumes(backend, groups)) {
                Optional<Subvolume> found = backend.ceph().ports().subvolumes().find(volume);
                Optional<String> reason = nothingToCopy(volume, found);
                long size = found.map(Subvolume::quotaBytes)
                        .orElse(OptionalLong.empty())
                        .orElse(0);
                String copy = "";
                if (reason.isEmpty()) {
                    try {
                        checkWhole(found);
                        copy = copy(controller, other, volume, size);
                    } catch (DriverException refused) {
                        reason = Optional.of("failed: " + refused.getMessage());
                        all = false;
                    }
                }
                table.row(
                        new Cell.Text(volume.toString()),
                        new Cell.Bytes(size),
                        new Cell.Text(copy),
                        new Cell.Text(reason.orElse("")));
            }
        }
        options.print(command, table);
        return all ? 0 : FAILED;
    }

    private static String copy(ControllerClient controller, String other, VolumeId.Provisioned volume, long size) {
        Map<String, String> parameters = Map.of(
                "owner",
                other,
                "cluster",
                volume.cluster(),
                "fsName",
                volume.fileSystem(),
                "copyAcrossAccounts",
                "true");
        Volume made = controller.create("handover-" + volume.subvolume(), parameters, size, Optional.of(volume));
        return made.getVolumeId();
    }

    private int export(Backend backend, List<SubvolumeGroup> groups, Path folder) {
        if (!Files.isDirectory(folder)) {
            throw new ParameterException(command.commandLine(), "--export: no such directory: " + folder);
        }
        Export export = new Export(backend.ceph().ports(), backend.ceph().archiver());
        Table table = new Table("volume", "file", "entries", "size", "note");
        boolean all = true;
        for (VolumeId.Provisioned volume : volumes(backend, groups)) {
            Path file = folder.resolve(volume.cluster())
                    .resolve(volume.fileSystem())
                    .resolve(volume.subvolume() + ".tar");
            Archiver.Archived written = new Archiver.Archived(0, 0, 0);
            Optional<Subvolume> found = backend.ceph().ports().subvolumes().find(volume);
            Optional<String> reason = nothingToCopy(volume, found);
            if (reason.isEmpty()) {
                try {
                    checkWhole(found);
                    written = export.write(volume, file);
                } catch (DriverException refused) {
                    reason = Optional.of("failed: " + refused.getMessage());
                    all = false;
                }
            }
            String leftOut = written.leftOut() > 0 ? written.leftOut() + " sockets or devices left out" : "";
            table.row(
                    new Cell.Text(volume.toString()),
                    new Cell.Text(reason.isEmpty() ? file.toString() : ""),
                    new Cell.Count(written.entries()),
                    new Cell.Bytes(written.bytes()),
                    new Cell.Text(reason.orElse(leftOut)));
        }
        options.print(command, table);
        return all ? 0 : FAILED;
    }

    private static Optional<String> nothingToCopy(VolumeId.Provisioned volume, Optional<Subvolume> found) {
        if (CephNames.kindOf(volume.subvolume()).equals(Optional.of(CephNames.Kind.SHALLOW))) {
            return Optional.of("holds nothing: it stands for a snapshot");
        }
        if (Homes.isAlias(volume)) {
            return Optional.of("holds nothing: it stands for the home");
        }
        if (found.isEmpty()) {
            return Optional.of("was deleted meanwhile");
        }
        return found.filter(it -> it.state() == Subvolume.State.RETAINED).map(_ -> "only snapshots are left of it");
    }

    private static void checkWhole(Optional<Subvolume> found) {
        if (found.filter(it -> it.state() == Subvolume.State.READY).isEmpty()) {
            throw new DriverException.InUse("it is not a whole volume; siphon audit says why");
        }
    }

    private static List<VolumeId.Provisioned> volumes(Backend backend, List<SubvolumeGroup> groups) {
        return groups.stream()
                .flatMap(group -> backend.ceph().ports().subvolumes().list(group).orElse(List.of()).stream()
                        .filter(name -> CephNames.kindOf(name).isPresent())
                        .map(group::volume))
                .toList();
    }
}
