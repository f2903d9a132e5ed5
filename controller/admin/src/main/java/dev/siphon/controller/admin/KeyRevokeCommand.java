package dev.siphon.controller.admin;

import dev.siphon.controller.Backend;
import dev.siphon.controller.key.ClientSession;
import dev.siphon.controller.key.KeyRevocation;
import dev.siphon.controller.key.KeyRevocation.RevocationOutcome;
import dev.siphon.controller.key.KeyRevocation.Revoked;
import dev.siphon.controller.key.SessionEviction;
import dev.siphon.controller.key.VolumeIdentity;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.report.Table;
import dev.siphon.csi.report.Table.Cell;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `siphon key revoke`: for a key that may have leaked, or a stolen node.
@Command(
        name = "revoke",
        description = {
            "Makes the keys of volumes worthless at once.",
            "Removes their identities, ends the sessions that use them, and has the OSDs refuse those clients.",
            "Volumes get new keys; nodes ask for new keys of datasets. Mount again what was mounted. Prints what",
            "could be reached with the old keys. May be repeated."
        })
final class KeyRevokeCommand implements Callable<Integer> {
    private static final int FAILED = 1;

    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private AdminOptions options = new AdminOptions();

    @ArgGroup(multiplicity = "1")
    private Which which = new Which();

    @Option(
            names = "--block-address",
            paramLabel = "HOURS",
            description = "With --node ADDRESS or NAME@ADDRESS: for so many hours, MDS and OSDs refuse"
                    + " everything from that address, even with a copied ticket (default: no block). Refused if"
                    + " a daemon of Ceph or a controller has that address.")
    private Optional<Integer> blockHours = Optional.empty();

    /// Whether at least one cluster has blocked the address.
    private boolean blocked;

    /// Selects the volumes.
    static final class Which {
        @Parameters(
                paramLabel = "VOLUME",
                description = {
                    "The ids of volumes, or dataset:NAME for all keys of a dataset. The id of a claim's volume"
                            + " that shows",
                    "one means the key in the Secrets of such claims, if nodes do not ask for their own."
                },
                arity = "1..*")
        private List<String> volumes = List.of();

        @Option(
                names = "--node",
                paramLabel = "NODE",
                description = {
                    "All volumes that a node has mounted, and all keys of datasets made for it. Give the node's"
                            + " name in Kubernetes, its address, or",
                    "NAME@ADDRESS. If its clients report another host name, run it for both. If nothing is"
                            + " found, exits 1 and prints where sessions are."
                })
        private Optional<String> node = Optional.empty();
    }

    @Override
    public Integer call() {
        check();
        return options.run(command, this::revoke);
    }

    /// @throws ParameterException if a flag is invalid, before anything is changed
    private void check() {
        Optional<NodeReference> place = which.node.map(this::place);
        if (blockHours.isEmpty()) {
            return;
        }
        if (blockHours.get() < 1) {
            throw usage("--block-address: must be at least 1 hour; leave it out to block no address");
        }
        if (place.flatMap(NodeReference::address).isEmpty()) {
            throw usage("--block-address needs --node ADDRESS or NAME@ADDRESS, which says what to block");
        }
    }

    private ParameterException usage(String message) {
        return new ParameterException(command.commandLine(), message);
    }

    private int revoke(Backend backend) {
        KeyRevocation revocation = new KeyRevocation(
                backend.ceph().identities(),
                VolumeArguments.store(command, backend),
                backend.ceph().clientSessions(),
                volume -> VolumeArguments.exists(backend, volume),
                volume -> VolumeArguments.grant(command, backend, volume),
                SessionEviction.PATIENCE);
        PartialFailures failures = new PartialFailures();
        DatasetArguments datasets = new DatasetArguments(command, backend, failures);
        List<VolumeId.Provisioned> volumes = new ArrayList<>();
        Optional<NodeReference> node = which.node.map(this::place);
        if (node.isPresent()) {
            block(backend, node.get(), failures);
            forEachFileSystem(backend, failures, (cluster, fileSystem) -> {
                volumes.addAll(revocation.mountedAt(cluster, fileSystem, node.get()));
                datasets.addOf(node.get(), cluster, fileSystem);
            });
        } else {
            Map<Boolean, List<String>> kinds =
                    which.volumes.stream().collect(Collectors.partitioningBy(DatasetArguments::isDataset));
            volumes.addAll(VolumeArguments.parse(command, kinds.getOrDefault(false, List.of())));
            kinds.getOrDefault(true, List.of()).forEach(datasets::add);
        }
        if (node.isPresent() && !volumes.isEmpty()) {
            // once the sessions are evicted, nobody knows the volumes any more
            PrintWriter out = command.commandLine().getErr();
            out.println("siphon: if this is interrupted, continue with: siphon key revoke "
                    + volumes.stream().map(VolumeId::toString).collect(Collectors.joining(" ")));
            out.flush();
        }
        RevocationOutcome outcome =
                node.isPresent() ? revocation.revokeAt(volumes, node.get()) : revocation.revoke(volumes);
        if (!outcome.revoked().isEmpty() || datasets.isEmpty()) {
            print(outcome.revoked());
        }
        outcome.failed().forEach((volume, why) -> failures.add(volume.toString(), why.getMessage()));
        outcome.revoked()
                .forEach(each -> each.unfinished()
                        .forEach(why -> failures.add(each.volume().toString(), why)));
        if (!datasets.isEmpty()) {
            options.print(
                    command,
                    datasets.revoke(session -> node.isEmpty() || node.get().test(session)));
        }
        boolean isNobody = volumes.isEmpty() && datasets.isEmpty();
        if (node.isPresent() && isNobody) {
            tellWhoIsThere(backend, revocation, which.node.orElse(""));
        }
        return failures.print(command) || (node.isPresent() && isNobody) ? FAILED : 0;
    }

    /// Lists the open sessions: a mistyped node must not look like one without mounts.
    private void tellWhoIsThere(Backend backend, KeyRevocation revocation, String node) {
        List<ClientSession> open = new ArrayList<>();
        // what does not answer was reported before
        forEachFileSystem(
                backend,
                new PartialFailures(),
                (cluster, fileSystem) -> open.addAll(revocation.open(cluster, fileSystem)));
        PrintWriter out = command.commandLine().getErr();
        out.println("siphon: no key was revoked: no session with the key of a volume is at " + QuotedText.of(node)
                + "; there are sessions at: " + (open.isEmpty() ? "none" : DatasetArguments.places(open)));
        if (blocked) {
            out.println("siphon: its address is blocked anyway");
        }
        out.println("siphon: for volumes of a node whose sessions have ended, run: siphon key revoke VOLUME...");
        out.flush();
    }

    private NodeReference place(String text) {
        try {
            return NodeReference.parse(text);
        } catch (DriverException.InvalidRequest wrong) {
            throw new ParameterException(command.commandLine(), "--node: " + wrong.getMessage(), wrong);
        }
    }

    /// Blocks the address first, so that no client connects from there while sessions are evicted.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if a daemon or a controller has the address; then no key
    ///     is revoked
    private void block(Backend backend, NodeReference place, PartialFailures failures) {
        if (blockHours.isEmpty()) {
            return;
        }
        AddressBlocklist block = AddressBlocklist.in(
                backend.ceph().ports().clusters().ids(),
                backend.ceph().clientSessions(),
                place.address().orElseThrow(),
                Duration.ofHours(blockHours.get()),
                failures);
        blocked = !block.clusters().isEmpty();
        try {
            block.requireUnserved();
        } catch (DriverException.InUse served) {
            boolean _ = failures.print(command);
            throw served;
        }
    }

    private interface InFileSystem {
        void run(String cluster, String fileSystem);
    }

    /// Runs `body` per file system; one that does not answer does not block the others.
    private static void forEachFileSystem(Backend backend, PartialFailures failures, InFileSystem body) {
        Clusters clusters = backend.ceph().ports().clusters();
        for (String cluster : clusters.ids()) {
            failures.collect(
                    "cluster " + cluster,
                    () -> clusters.fileSystems(cluster)
                            .forEach(each -> failures.collect(
                                    "file system " + each.name() + " of cluster " + cluster,
                                    () -> body.run(cluster, each.name()))));
        }
    }

    private void print(List<Revoked> revoked) {
        Table table = new Table(
                "volume",
                "reached names of",
                "reached objects in",
                "of these volumes too",
                "ended at",
                "still mounted at",
                "new identity");
        for (Revoked each : revoked) {
            table.row(
                    new Cell.Text(each.volume().toString()),
                    new Cell.Text("/volumes/" + each.volume().group()),
                    new Cell.Text(each.objects().orElse("?")),
                    new Cell.Text(each.shared().stream()
                            .map(VolumeId.Provisioned::subvolume)
                            .sorted()
                            .collect(Collectors.joining(","))),
                    new Cell.Text(DatasetArguments.places(each.ended())),
                    new Cell.Text(DatasetArguments.places(each.elsewhere())),
                    new Cell.Text(each.current()
                            .map(VolumeIdentity::userId)
                            .map(id -> "client." + id)
                            .orElse("none yet")));
        }
        options.print(command, table);
    }
}
