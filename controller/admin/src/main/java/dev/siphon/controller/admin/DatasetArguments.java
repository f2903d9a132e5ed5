package dev.siphon.controller.admin;

import dev.siphon.controller.Backend;
import dev.siphon.controller.dataset.DatasetIdentities;
import dev.siphon.controller.dataset.DatasetRevocation;
import dev.siphon.controller.dataset.DatasetRevocation.Revoked;
import dev.siphon.controller.dataset.DatasetRevocation.Target;
import dev.siphon.controller.dataset.DatasetVolumes;
import dev.siphon.controller.key.ClientSession;
import dev.siphon.controller.key.DatasetIdentity;
import dev.siphon.controller.key.DatasetKeyStore;
import dev.siphon.controller.key.SessionEviction;
import dev.siphon.controller.kubernetes.KubernetesAdapter;
import dev.siphon.controller.volume.FileSystemRef;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.report.Table;
import dev.siphon.csi.report.Table.Cell;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/// Selects the dataset keys that `siphon key revoke` and `siphon key rotate` replace, by their arguments.
final class DatasetArguments {
    private static final String BEGIN = "dataset:";

    private final CommandSpec command;
    private final Backend backend;
    private final PartialFailures failures;
    private final DatasetRevocation revocation;

    /// The selected identities, by file system.
    private final Map<FileSystemRef, Set<Target>> targets = new LinkedHashMap<>();

    /// @param failures receives what is reported at the end
    DatasetArguments(CommandSpec command, Backend backend, PartialFailures failures) {
        this.command = command;
        this.backend = backend;
        this.failures = failures;
        DatasetKeyStore store = backend.datasetKeys()
                .orElseThrow(() -> new ParameterException(
                        command.commandLine(),
                        "--key-dir or --kubernetes-namespace is needed: it says where the keys of volumes are"));
        this.revocation = new DatasetRevocation(
                backend.ceph().identities(),
                backend.ceph().clientSessions(),
                new DatasetVolumes.Keys(
                        new DatasetIdentities(
                                backend.ceph().ports().files(), backend.ceph().identities(), backend::owner),
                        store),
                SessionEviction.PATIENCE);
    }

    /// Whether an argument names a dataset.
    static boolean isDataset(String text) {
        return text.startsWith(BEGIN);
    }

    /// Selects all keys of a dataset, by its name or a volume id without a claim. Selects the keys in the Secrets
    /// of its claims, by the id of a claim's volume.
    void add(String text) {
        failures.collect(text, () -> {
            VolumeId.DatasetVolume given = VolumeId.DatasetVolume.tryParse(text).orElseGet(() -> named(text));
            VolumeId.DatasetVolume dataset = given.withoutClaim();
            boolean isClaims = given.claim().isPresent() && backend.kubernetes().isPresent();
            add(
                    dataset.cluster(),
                    dataset.fileSystem(),
                    isClaims ? revocation.ofClaims(dataset) : revocation.of(dataset));
        });
    }

    /// Selects the keys of datasets of a file system that a node may know.
    void addOf(NodeReference node, String cluster, String fileSystem) {
        add(cluster, fileSystem, revocation.at(cluster, fileSystem, node.name(), node));
    }

    private void add(String cluster, String fileSystem, List<Target> found) {
        if (!found.isEmpty()) {
            targets.computeIfAbsent(new FileSystemRef(cluster, fileSystem), _ -> new LinkedHashSet<>())
                    .addAll(found);
        }
    }

    private VolumeId.DatasetVolume named(String text) {
        String name;
        try {
            name = Dataset.name("dataset", text.substring(BEGIN.length()));
        } catch (DriverException.InvalidRequest wrong) {
            throw new ParameterException(command.commandLine(), wrong.getMessage(), wrong);
        }
        return backend.kubernetes()
                .map(KubernetesAdapter::datasets)
                .orElseThrow(() -> new ParameterException(
                        command.commandLine(),
                        "the name of a dataset needs --kubernetes-namespace; without it, give the id of a"
                                + " volume that shows the dataset (that id begins with dataset: too)"))
                .find(name)
                .orElseThrow(() -> new DriverException.NotFound(
                        "there is no dataset " + name + "; if it was deleted, give the id of a volume that shows it"))
                .volume(backend.ceph().ports().clusters().defaultCluster());
    }

    /// Whether nothing is selected.
    boolean isEmpty() {
        return targets.isEmpty();
    }

    /// Revokes the selected keys.
    ///
    /// @param where selects the sessions to evict, of identities that nodes share
    /// @return the results, for people
    Table revoke(Predicate<ClientSession> where) {
        List<Revoked> revoked = new ArrayList<>();
        targets.forEach((place, found) -> failures.collect(
                "datasets of " + place,
                () -> revoked.addAll(revocation.revoke(place.cluster(), place.fileSystem(), found, where))));
        Table table = new Table(
                "dataset's identity",
                "of node",
                "reached files in",
                "reached objects in",
                "ended at",
                "still mounted at");
        for (Revoked each : revoked) {
            DatasetIdentity identity = each.target().identity();
            table.row(
                    new Cell.Text("client." + identity.userId()),
                    new Cell.Text(
                            identity.node().map(DatasetIdentity.AtNode::name).orElse("any")),
                    new Cell.Text(each.target().path().orElse("?")),
                    new Cell.Text(each.target().objects().orElse("?")),
                    new Cell.Text(places(each.ended())),
                    new Cell.Text(places(each.elsewhere())));
            addUnfinished(each);
        }
        return table;
    }

    /// Revokes the selected keys that no session uses; the next request gets another key. Leaves the others for
    /// another call.
    ///
    /// @param table gets a row per key
    /// @return whether none is left
    boolean rotate(Table table) {
        AtomicBoolean isDone = new AtomicBoolean(true);
        targets.forEach((place, found) -> failures.collect(
                "datasets of " + place, () -> isDone.compareAndSet(true, rotate(place, found, table))));
        return isDone.get();
    }

    private boolean rotate(FileSystemRef place, Set<Target> found, Table table) {
        Map<Target, List<ClientSession>> used = revocation.inUse(place.cluster(), place.fileSystem(), found);
        used.forEach((target, sessions) -> table.row(row(target, places(sessions))));
        List<Target> unused =
                found.stream().filter(target -> !used.containsKey(target)).toList();
        revocation
                .revoke(place.cluster(), place.fileSystem(), unused, _ -> true)
                .forEach(done -> {
                    table.row(row(done.target(), ""));
                    addUnfinished(done);
                });
        return used.isEmpty();
    }

    private void addUnfinished(Revoked done) {
        String identity = "client." + done.target().identity().userId();
        done.unfinished().forEach(why -> failures.add(identity, why));
    }

    private static Cell[] row(Target target, String usedBy) {
        return new Cell[] {
            new Cell.Text("dataset " + target.path().orElse("?")),
            new Cell.Text("client." + target.identity().userId()),
            new Cell.Text(usedBy)
        };
    }

    /// Returns the hosts and addresses of sessions, for people.
    static String places(List<ClientSession> sessions) {
        return sessions.stream()
                .map(session -> session.host() + "@" + session.address())
                .distinct()
                .sorted()
                .collect(Collectors.joining(","));
    }
}
