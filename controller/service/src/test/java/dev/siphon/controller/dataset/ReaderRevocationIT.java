package dev.siphon.controller.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.ceph.CephAdapter;
import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.FuseMount;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.key.SessionEviction;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.controller.offboard.Freezer;
import dev.siphon.controller.volume.InMemoryDirectory;
import dev.siphon.controller.volume.NamespaceAccounts;
import dev.siphon.controller.volume.Owners.OwnerRule;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.Grants;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Digest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Freezes accounts that read a dataset on a real cluster, one after the other.
@Timeout(120)
final class ReaderRevocationIT {
    private static final String PATH = "/datasets/frozen";
    private static final String HIS = "node-a.example";
    private static final String BOTH = "node-b.example";

    private final CephAdapter ceph = CephLab.adapter();
    private final Account one = new Account("u1", "frozen-1", 10_001, 10_001, Set.of(), OptionalLong.empty());
    private final Account two = new Account("u2", "frozen-2", 10_002, 10_002, Set.of(), OptionalLong.empty());
    private final Dataset declared = new Dataset(
            "mine", Optional.of("lab"), CephLab.fileSystem(), PATH, new Digest("1".repeat(64)), 1, Set.of("u1", "u2"));
    private final VolumeId.DatasetVolume dataset = declared.volume("lab");
    private final MintedKeys copies = new MintedKeys();
    private final DatasetIdentities identities =
            new DatasetIdentities(ceph.ports().files(), ceph.identities(), () -> Optional.of("kmine00000"));
    private final FrozenAccounts frozen =
            new FrozenAccounts(ceph.ports().clusters(), ceph.ports().files());
    private final Pods pods = new Pods();
    private final InMemoryDirectory directory = new InMemoryDirectory(Map.of("u1", one, "u2", two));
    private final ReaderNames names = new ReaderNames(new Declaring(), directory);

    /// The namespaces that may read it, as nodes believe.
    private Set<String> reading = Set.of("user-u1", "user-u2");

    private final ReaderRevocation readers = new ReaderRevocation(
            new DatasetReaders(
                    new NamespaceAccounts(Optional.of(OwnerRule.parse("namespace-prefix:user-")), Optional.empty()),
                    directory,
                    frozen,
                    names),
            () -> new Grants(Map.of(), Map.of("mine", new Grants.Shared(dataset, false, new TreeSet<>(reading)))),
            pods,
            ceph.ports().clusters(),
            new DatasetRevocation(
                    ceph.identities(),
                    ceph.clientSessions(),
                    new DatasetVolumes.Keys(identities, copies),
                    SessionEviction.PATIENCE));

    @TempDir
    private Path folder = Path.of("");

    @BeforeEach
    void make() throws IOException {
        directory().make(ceph.ports().files(), "dataset-frozen");
    }

    @AfterEach
    void remove() throws IOException {
        identities.remove(dataset);
        ceph.close();
        try (FuseMount admin = FuseMount.mount()) {
            for (Account account : List.of(one, two)) {
                Files.deleteIfExists(admin.at(
                        SubvolumeGroup.of("lab", CephLab.fileSystem(), account).path()));
            }
        }
        directory().remove();
    }

    private void freeze(Account account) {
        Freezer freezer =
                new Freezer(ceph.ports(), ceph.identities(), Optional.empty(), Optional.empty(), ceph.clientSessions());
        assertEquals(
                Optional.empty(), freezer.freeze(freezer.makeGroup(account)).unfinished());
        frozen.refresh("lab");
    }

    private KeyedDirectory directory() {
        return new KeyedDirectory(PATH, folder);
    }

    private FuseMount mount(String host, VolumeKey key) throws IOException {
        return directory().mount(host, key);
    }

    private boolean canMount(VolumeKey key) {
        return directory().canMount(key);
    }

    @Test
    void aNodeLosesItsKeyWhenOnlyFrozenAccountsReadThere() throws IOException {
        VolumeKey his = identities.mint(dataset, HIS);
        VolumeKey both = identities.mint(dataset, BOTH);
        VolumeKey shared = identities.mint(dataset);
        VolumeId.DatasetVolume claim = dataset.forUse("0123456789ab");
        copies.put(claim, "pvc-1", Optional.of(shared));
        pods.uses.addAll(List.of(
                new DatasetUsageCluster.PodUse(dataset, HIS, "user-u1"),
                new DatasetUsageCluster.PodUse(dataset, BOTH, "user-u1"),
                new DatasetUsageCluster.PodUse(dataset, BOTH, "user-u2")));
        try (FuseMount here = mount(HIS, his);
                FuseMount there = mount(BOTH, both)) {
            assertEquals("1", Files.readString(here.at("/one")));
            assertEquals("1", Files.readString(there.at("/one")));

            freeze(one);
            readers.reconcileAndLog();
            assertEquals("2", Files.readString(here.at("/two")), "nodes believe that he may: it is looked again");

            reading = Set.of("user-u2");
            readers.reconcileAndLog();
            assertThrows(IOException.class, () -> Files.readString(here.at("/three")), "in a session that was open");
            assertFalse(canMount(his), "mon");
            assertEquals("2", Files.readString(there.at("/two")), "another reader is there");
            assertTrue(canMount(both));
            assertTrue(canMount(shared));

            freeze(two);
            reading = Set.of();
            readers.reconcileAndLog();
            assertThrows(IOException.class, () -> Files.readString(there.at("/three")));
            assertFalse(canMount(both));
            assertFalse(canMount(shared), "nobody reads it, so claims have another key");
            assertNotEquals(
                    shared.secret(),
                    copies.kept
                            .getOrDefault(claim, Optional.empty())
                            .orElseThrow()
                            .secret());
        }
    }

    @Test
    void aNodeLosesItsKeyWhenTheNameOfItsReaderIsAnothers() {
        VolumeKey his = identities.mint(dataset, HIS);
        pods.uses.add(new DatasetUsageCluster.PodUse(dataset, HIS, "user-u1"));
        reading = Set.of();
        frozen.refresh("lab");
        names.refresh(seen(one));
        readers.reconcileAndLog();
        assertTrue(canMount(his));
        directory.put(new Account("u1", "another", 10_001, 10_001, Set.of(), OptionalLong.empty()));
        names.refresh(seen(one));
        readers.reconcileAndLog();
        assertFalse(canMount(his));
    }

    private DatasetCatalog.Declared seen(Account account) {
        return new DatasetCatalog.Declared(
                List.of(declared),
                Map.of(),
                Map.of("mine", new ReaderIds(Map.of("u1", SubvolumeGroup.nameOf(account)), Set.of())));
    }

    /// A catalog without declarations: the test passes the datasets itself.
    private static final class Declaring implements DatasetCatalog {
        @Override
        public Optional<Dataset> find(String name) {
            throw new IllegalStateException("nobody makes a volume");
        }

        @Override
        public Declared all() {
            throw new IllegalStateException("nobody lists them");
        }

        @Override
        public ReaderIds readers(String name) {
            throw new IllegalStateException("nobody makes a volume");
        }

        @Override
        public void note(String name, ReaderIds readers) {
            assertEquals("mine", name);
        }

        @Override
        public void report(String name, DatasetStatus state) {
            throw new IllegalStateException("nothing is written down");
        }
    }

    /// The existing pods.
    private final class Pods implements DatasetUsageCluster {
        private final List<PodUse> uses = new ArrayList<>();

        @Override
        public List<RecordedUsage> declared() {
            return List.of(new RecordedUsage(declared, Optional.empty()));
        }

        @Override
        public void each(Set<VolumeId.DatasetVolume> datasets, Consumer<PodUse> each) {
            uses.stream().filter(use -> datasets.contains(use.dataset())).forEach(each);
        }

        @Override
        public void eachReplica(BiConsumer<VolumeId.DatasetVolume, String> each) {
            throw new IllegalStateException("nobody asks for replicas");
        }

        @Override
        public void report(String name, DatasetUsage use) {
            throw new IllegalStateException("nothing is written down");
        }
    }
}
