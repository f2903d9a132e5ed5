package dev.siphon.controller.admin;

import csi.v1.Volume;
import dev.siphon.controller.Backend;
import dev.siphon.controller.admin.rpc.ControllerClient;
import dev.siphon.controller.key.KeyStore;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.offboard.AccountGroups;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.Homes;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.Subvolumes;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.report.Table;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `siphon home ACCOUNT`: gives login hosts the home of an account. Each host has a volume that stands for the
/// home, as a claim has. So each has a key of its own, which can be revoked.
@Command(
        name = "home",
        description =
                "Makes or finds the home of an account, says how a login host mounts it, and writes the host's key.")
public final class HomeCommand implements Callable<Integer> {
    /// How long to wait for the key, which may follow its volume with a delay.
    private static final Duration KEY_FOLLOWS = Duration.ofSeconds(15);

    private static final Duration PAUSE = Duration.ofMillis(100);

    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private AdminOptions admin = new AdminOptions();

    @Mixin
    private LeaderOptions running = new LeaderOptions();

    @Mixin
    private HomeOptions options = new HomeOptions();

    @Parameters(index = "0", paramLabel = "ACCOUNT", description = "The account, or group:NAME.")
    private String account = "";

    @Override
    public Integer call() {
        options.check(command, admin.printsJson());
        return admin.run(command, backend -> {
            try (ControllerClient leader = running.open(command)) {
                return switch (options.action()) {
                    case SHOW -> show(backend, leader);
                    case FORGET -> forget(backend, leader);
                    case DELETE -> delete(backend, leader);
                };
            } catch (IOException cannotWrite) {
                throw new DriverException.BackendUnavailable("the key cannot be written: " + cannotWrite);
            }
        });
    }

    private int show(Backend backend, ControllerClient leader) throws IOException {
        KeyStore keys = backend.keys()
                .orElseThrow(() -> new DriverException.InvalidRequest(
                        "--key-dir or --kubernetes-namespace is needed: it says where the keys of volumes are"));
        Volume made = make(leader);
        VolumeId.Provisioned alias = provisioned(made.getVolumeId());
        VolumeContext context = VolumeContext.fromMap(alias, made.getVolumeContextMap());
        VolumeId.Provisioned home = Homes.behind(alias);
        Subvolumes.Subvolume found = backend.ceph()
                .ports()
                .subvolumes()
                .find(home)
                .orElseThrow(() -> new DriverException.BackendUnavailable("home " + home + " is not there now; retry"));
        VolumeKey key = await(keys, alias);
        LoginMount mount = new LoginMount(
                context.monitors(),
                context.fileSystem(),
                found.dataPath().orElseThrow(),
                key.userId(),
                options.keyringAtHost(key),
                options.mountPoint(account));
        if (options.writesKeyring()) {
            Keyring.write(options.keyringAtHost(key), key);
        }
        print(home, found.quotaBytes().orElse(0), mount);
        if (options.printsKeyring()) {
            PrintWriter out = command.commandLine().getOut();
            out.print(Keyring.text(key));
            out.flush();
        }
        return CommandLine.ExitCode.OK;
    }

    /// Creates or finds the host's volume; expands a home that is smaller than requested.
    private Volume make(ControllerClient leader) {
        long size = options.sizeBytes();
        try {
            return leader.create(options.volumeName(), parameters(), size, Optional.empty());
        } catch (DriverException.IncompatibleExisting other) {
            if (size == 0) {
                throw other;
            }
            // if anything but the size conflicts, this fails too
            Volume found = leader.create(options.volumeName(), parameters(), 0, Optional.empty());
            leader.expand(provisioned(found.getVolumeId()), size);
            return found;
        }
    }

    private void print(VolumeId.Provisioned home, long bytes, LoginMount mount) {
        Map<String, Table.Cell> all = new LinkedHashMap<>();
        all.put("account", new Table.Cell.Text(account));
        all.put("home", new Table.Cell.Text(home.toString()));
        all.put("path", new Table.Cell.Text(mount.path()));
        all.put("bytes", new Table.Cell.Bytes(bytes));
        all.put("identity", new Table.Cell.Text("client." + mount.userId()));
        all.put("keyring", new Table.Cell.Text(mount.keyring().toString()));
        all.put("fuse", new Table.Cell.Text(mount.fuse()));
        all.put("kernel", new Table.Cell.Text(mount.kernel()));
        all.put("fstab", new Table.Cell.Text(mount.fstab()));
        all.put("autofs", new Table.Cell.Text(mount.autofs()));
        admin.printOne(command, all);
    }

    private int forget(Backend backend, ControllerClient leader) {
        leader.delete(alias(backend));
        return CommandLine.ExitCode.OK;
    }

    private int delete(Backend backend, ControllerClient leader) {
        leader.deleteAliasAndHome(alias(backend));
        return CommandLine.ExitCode.OK;
    }

    /// Returns the id of the volume by which this host uses the home. The volume need not exist, and the account
    /// need not be in the directory.
    private VolumeId.Provisioned alias(Backend backend) {
        Clusters clusters = backend.ceph().ports().clusters();
        String cluster = options.cluster.isEmpty() ? clusters.defaultCluster() : options.cluster;
        List<String> fileSystems = clusters.fileSystems(cluster).stream()
                .map(Clusters.FileSystem::name)
                .toList();
        if (options.fileSystem.isEmpty() && fileSystems.size() != 1) {
            throw new DriverException.InvalidRequest("--fs is needed: cluster " + cluster + " has " + fileSystems);
        }
        String fileSystem = options.fileSystem.isEmpty() ? fileSystems.getFirst() : options.fileSystem;
        SubvolumeGroup group = backend.directory()
                .account(account)
                .map(found -> SubvolumeGroup.of(cluster, fileSystem, found))
                .orElseGet(() -> noted(backend, cluster, fileSystem));
        return Homes.alias(group, options.volumeName());
    }

    /// Returns the group of an account that is no longer in the directory, by the notes on the groups.
    private SubvolumeGroup noted(Backend backend, String cluster, String fileSystem) {
        AccountGroups groups = new AccountGroups(
                backend.ceph().ports().clusters(), backend.ceph().survey(), backend.directory());
        return groups.of(account).stream()
                .filter(group ->
                        group.cluster().equals(cluster) && group.fileSystem().equals(fileSystem))
                .findAny()
                .orElseThrow(() -> new DriverException.NotFound("account " + QuotedText.of(account)
                        + " has nothing in file system " + fileSystem + " of cluster " + cluster));
    }

    private Map<String, String> parameters() {
        Map<String, String> parameters = new LinkedHashMap<>(Map.of("owner", account, "kind", "home"));
        if (!options.cluster.isEmpty()) {
            parameters.put("cluster", options.cluster);
        }
        if (!options.fileSystem.isEmpty()) {
            parameters.put("fsName", options.fileSystem);
        }
        return parameters;
    }

    private static VolumeKey await(KeyStore keys, VolumeId.Provisioned volume) {
        long end = System.nanoTime() + KEY_FOLLOWS.toNanos();
        Optional<VolumeKey> key = keys.find(volume);
        while (key.isEmpty() && System.nanoTime() < end) {
            LockSupport.parkNanos(PAUSE.toNanos());
            key = keys.find(volume);
        }
        return key.orElseThrow(() -> new DriverException.BackendUnavailable("volume " + volume
                + " has no key yet: check that the controller runs with the same --key-dir or --kubernetes-namespace"));
    }

    private static VolumeId.Provisioned provisioned(String id) {
        if (VolumeId.parse(id) instanceof VolumeId.Provisioned volume) {
            return volume;
        }
        throw new DriverException.BackendFault("the controller made a volume with the id " + QuotedText.of(id));
    }
}
