package dev.siphon.controller.admin;

import dev.siphon.controller.Backend;
import dev.siphon.controller.key.ClientSession;
import dev.siphon.controller.key.Revocation;
import dev.siphon.controller.key.Revocation.Revoked;
import dev.siphon.controller.key.VolumeIdentity;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.report.Table;
import dev.siphon.csi.report.Table.Cell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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

/// `siphon key revoke`: for a key that somebody may have, or a node that was stolen.
@Command(
        name = "revoke",
        description = {
            "Makes the keys of volumes worthless at once.",
            "Removes their identities, ends the sessions that use them, and has the OSDs refuse those clients. The",
            "volumes get other keys; what was mounted has to be mounted anew. Prints what could be reached with the",
            "old keys. May be repeated."
        })
final class KeyRevokeCommand implements Callable<Integer> {
    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private AdminOptions options = new AdminOptions();

    @ArgGroup(multiplicity = "1")
    private Which which = new Which();

    @Option(
            names = "--block-address",
            paramLabel = "HOURS",
            description = "With --node ADDRESS or NAME@ADDRESS: have MDS and OSDs refuse everything from there for so"
                    + " long, also who copied a ticket (default: they do not).")
    private Optional<Integer> blockHours = Optional.empty();

    /// Which volumes.
    static final class Which {
        @Parameters(paramLabel = "VOLUME", description = "The ids of volumes.", arity = "1..*")
        private List<String> volumes = List.of();

        @Option(
                names = "--node",
                paramLabel = "NODE",
                description = "All volumes that a node has mounted: its host name, its address, or NAME@ADDRESS.")
        private Optional<String> node = Optional.empty();
    }

    @Override
    public Integer call() {
        check();
        return options.run(command, this::revoke);
    }

    /// @throws ParameterException if a flag has no meaning, before anything is done
    private void check() {
        Optional<NodePlace> place = which.node.map(this::place);
        if (blockHours.isEmpty()) {
            return;
        }
        if (blockHours.get() < 1) {
            throw usage("--block-address: must be at least 1 hour; leave it out to block no address");
        }
        if (place.flatMap(NodePlace::address).isEmpty()) {
            throw usage("--block-address needs --node ADDRESS or NAME@ADDRESS, which says what to block");
        }
    }

    private ParameterException usage(String message) {
        return new ParameterException(command.commandLine(), message);
    }

    private int revoke(Backend backend) {
        Revocation revocation = new Revocation(
                backend.ceph().identities(),
                KeyVolumes.store(command, backend),
                backend.ceph().clientSessions(),
                volume -> KeyVolumes.exists(backend, volume));
        Failures failures = new Failures();
        List<Revoked> revoked = new ArrayList<>();
        if (which.node.isPresent()) {
            NodePlace place = place(which.node.get());
            block(backend, place);
            forEachFileSystem(
                    backend,
                    (cluster, fileSystem) -> revocation
                            .mountedAt(cluster, fileSystem, place)
                            .forEach(volume ->
                                    failures.collect(volume, () -> revoked.add(revocation.revokeAt(volume, place)))));
        } else {
            KeyVolumes.parse(command, which.volumes)
                    .forEach(volume -> failures.collect(volume, () -> revoked.add(revocation.revoke(volume))));
        }
        print(revoked);
        return failures.print(command) ? 1 : 0;
    }

    private NodePlace place(String text) {
        try {
            return NodePlace.parse(text);
        } catch (DriverException.InvalidRequest wrong) {
            throw new ParameterException(command.commandLine(), "--node: " + wrong.getMessage(), wrong);
        }
    }

    /// First, so that nobody gets in while sessions are ended one after another.
    private void block(Backend backend, NodePlace place) {
        blockHours.ifPresent(hours -> {
            String address = place.address().orElseThrow();
            for (String cluster : backend.ceph().ports().clusters().ids()) {
                backend.ceph().clientSessions().block(cluster, address, Duration.ofHours(hours));
            }
        });
    }

    private interface InFileSystem {
        void run(String cluster, String fileSystem);
    }

    private static void forEachFileSystem(Backend backend, InFileSystem body) {
        Clusters clusters = backend.ceph().ports().clusters();
        for (String cluster : clusters.ids()) {
            clusters.fileSystems(cluster).forEach(each -> body.run(cluster, each.name()));
        }
    }

    private void print(List<Revoked> revoked) {
        Table table = new Table(
                "volume",
                "reached names of",
                "reached objects in",
                "of these volumes too",
                "ended at",
                "goes on at",
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
                    new Cell.Text(places(each.ended())),
                    new Cell.Text(places(each.elsewhere())),
                    new Cell.Text(each.current()
                            .map(VolumeIdentity::userId)
                            .map(id -> "client." + id)
                            .orElse("none yet")));
        }
        options.print(command, table);
    }

    private static String places(List<ClientSession> sessions) {
        return sessions.stream()
                .map(session -> session.host() + "@" + session.address())
                .distinct()
                .sorted()
                .collect(Collectors.joining(","));
    }
}
