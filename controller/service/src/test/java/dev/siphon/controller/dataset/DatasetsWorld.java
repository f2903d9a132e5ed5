package dev.siphon.controller.dataset;

import dev.siphon.controller.grant.FileGrantsStore;
import dev.siphon.controller.grant.GrantsMetrics;
import dev.siphon.controller.grant.GrantsStore;
import dev.siphon.controller.grant.NamespaceGrants;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.identity.InMemoryNamespaces;
import dev.siphon.controller.identity.Namespaces;
import dev.siphon.controller.volume.AccountFreeze;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.controller.volume.InMemoryDirectory;
import dev.siphon.controller.volume.InterceptedPorts;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.controller.volume.Owners.OwnerRule;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.csi.DriverException;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;

/// Datasets in a file, over a Ceph in memory, for the accounts u1 and u2. u2 is in group vision. Namespace
/// `user-NAME` belongs to account NAME.
final class DatasetsWorld {
    static final String DIGEST = "0123456789abcdef".repeat(4);

    final InMemoryCeph ceph = new InMemoryCeph();
    final InMemoryNamespaces kubernetes = new InMemoryNamespaces();
    final InMemoryDirectory directory = new InMemoryDirectory(Map.of(
            "u1", new Account("u1", "id-1", 10_001, 10_001, Set.of("u1"), OptionalLong.empty()),
            "u2", new Account("u2", "id-2", 10_002, 10_002, Set.of("u2", "vision"), OptionalLong.empty())));

    /// Exceptions that the directory throws for accounts, by name.
    final Map<String, DriverException> faults = new HashMap<>();

    /// How the driver handles keys; empty if it mints none.
    Optional<DatasetVolumes.Keys> keys = Optional.empty();

    final FrozenAccounts frozen =
            new FrozenAccounts(ceph.ports().clusters(), ceph.ports().files());

    /// The recorded ids of readers' names, by dataset.
    final Map<String, ReaderIds> seen = new HashMap<>();

    private final Path folder;
    private final Optional<Namespaces> namespaces;

    DatasetsWorld(Path folder, boolean withKubernetes) {
        this.folder = folder;
        frozen.refresh(InMemoryCeph.CLUSTER);
        this.namespaces = withKubernetes ? Optional.of(kubernetes) : Optional.empty();
    }

    /// Declares datasets by name and readers, and replaces all earlier ones.
    void declare(Map<String, List<String>> readers) {
        StringBuilder json = new StringBuilder("{");
        readers.forEach((name, names) -> json.append(json.length() > 1 ? "," : "")
                .append(
                        "\"%s\":{\"fsName\":\"%s\",\"path\":\"/datasets/%s\",\"digest\":\"%s\",\"bytes\":5000,\"readers\":[%s]}"
                                .formatted(
                                        name,
                                        InMemoryCeph.FILE_SYSTEM,
                                        name.replace('/', '-'),
                                        DIGEST,
                                        String.join(
                                                ",",
                                                names.stream()
                                                        .map(each -> '"' + each + '"')
                                                        .toList()))));
        write(json.append('}').toString());
    }

    void write(String text) {
        try {
            Files.writeString(folder.resolve("datasets.json"), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    SeenDatasets datasets() {
        return new SeenDatasets(new DatasetsFile(folder.resolve("datasets.json")), seen);
    }

    NamespaceAccounts accounts() {
        return new NamespaceAccounts(Optional.of(OwnerRule.parse("namespace-prefix:user-")), namespaces);
    }

    private DatasetReaders readers(AccountDirectory asked) {
        return new DatasetReaders(accounts(), asked, frozen, new ReaderNames(datasets(), asked));
    }

    DatasetVolumes volumes() {
        return volumes(directory);
    }

    DatasetVolumes volumes(AccountDirectory asked) {
        return new DatasetVolumes(
                ceph.ports().clusters(), datasets(), namespaces, readers(asked), keys, Optional.empty());
    }

    /// Marks an account like `siphon user offboard`, and refreshes the frozen accounts.
    void freeze(String account, boolean frozen) {
        freezeUnseen(account, frozen);
        this.frozen.refresh(InMemoryCeph.CLUSTER);
    }

    /// Marks an account without a refresh.
    void freezeUnseen(String account, boolean frozen) {
        SubvolumeGroup group = new SubvolumeGroup(
                InMemoryCeph.CLUSTER,
                InMemoryCeph.FILE_SYSTEM,
                CephNames.group(directory.account(account).orElseThrow().id()));
        if (frozen) {
            ceph.ports().subvolumes().createGroup(group, OptionalLong.empty(), Optional.empty());
        }
        ceph.ports()
                .files()
                .setNote(group.cluster(), group.fileSystem(), group.path(), AccountFreeze.NOTE, frozen ? "now" : "");
    }

    /// Returns the files, with each directory in its own RADOS namespace.
    FileTree files() {
        return InterceptedPorts.of(
                        ceph.ports(),
                        (call, make) -> call.method().equals("layout")
                                ? new FileTree.Layout(
                                        "data", String.valueOf(call.arguments().get(2)))
                                : make.get())
                .files();
    }

    FileGrantsStore store() {
        return new FileGrantsStore(folder.resolve("grants.json"));
    }

    private AccountDirectory faulty() {
        return new AccountDirectory() {
            @Override
            public Optional<Account> account(String name) {
                if (faults.containsKey(name)) {
                    throw faults.get(name);
                }
                return directory.account(name);
            }

            @Override
            public void accounts(Consumer<Account> each) {
                directory.accounts(each);
            }
        };
    }

    NamespaceGrants published() {
        return published(store());
    }

    NamespaceGrants published(GrantsStore store) {
        return new NamespaceGrants(ceph.ports(), store, accounts(), new GrantsMetrics(new PrometheusRegistry()));
    }

    DatasetGrantsPublisher grants(NamespaceGrants published) {
        return grants(published, faulty());
    }

    DatasetGrantsPublisher grants(NamespaceGrants published, AccountDirectory asked) {
        return new DatasetGrantsPublisher(
                ceph.ports().clusters(), datasets(), accounts(), readers(asked), published, keys);
    }

    /// Returns the request of a read-only claim `data` of a namespace.
    static VolumeRequest request(String namespace, Map<String, String> more) {
        Map<String, String> parameters = new HashMap<>(more);
        if (!namespace.isEmpty()) {
            parameters.put("csi.storage.k8s.io/pvc/namespace", namespace);
            parameters.put("csi.storage.k8s.io/pvc/name", "data");
        }
        return new VolumeRequest("pvc-1", CapacityRange.ANY, ClassParameters.parse(parameters), true, Optional.empty());
    }
}
