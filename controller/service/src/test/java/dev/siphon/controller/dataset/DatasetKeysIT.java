package dev.siphon.controller.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.ceph.CephAdapter;
import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.FuseMount;
import dev.siphon.controller.key.DatasetIdentity;
import dev.siphon.controller.key.MintedIdentity;
import dev.siphon.controller.key.SessionEviction;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Digest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Two nodes read a dataset on a real cluster, each with its own key; one key is stolen.
@Timeout(120)
final class DatasetKeysIT {
    private static final String STOLEN = "node-a.example";
    private static final String OTHER = "node-b.example";
    private static final String PATH = "/datasets/keys";
    private static final Digest DIGEST = new Digest("1".repeat(64));

    private final CephAdapter ceph = CephLab.adapter();
    private final MintedKeys copies = new MintedKeys();
    private final DatasetIdentities identities =
            new DatasetIdentities(ceph.ports().files(), ceph.identities(), () -> Optional.of("kmine00000"));
    private final DatasetIdentities others =
            new DatasetIdentities(ceph.ports().files(), ceph.identities(), () -> Optional.of("kother0000"));
    private final DatasetRevocation revocation = new DatasetRevocation(
            ceph.identities(),
            ceph.clientSessions(),
            new DatasetVolumes.Keys(identities, copies),
            SessionEviction.PATIENCE);
    private final VolumeId.DatasetVolume dataset =
            new VolumeId.DatasetVolume("lab", CephLab.fileSystem(), DIGEST.beginning(), Optional.empty(), PATH);

    @TempDir
    private Path folder = Path.of("");

    @BeforeEach
    void make() throws IOException {
        directory().make(ceph.ports().files(), "dataset-keys");
    }

    @AfterEach
    void remove() throws IOException {
        identities.remove(dataset);
        others.remove(dataset);
        assertEquals(Set.of(), minted());
        ceph.close();
        directory().remove();
    }

    private Set<String> minted() {
        return ceph.identities().minted("lab", DatasetIdentity.PREFIX).stream()
                .map(MintedIdentity::userId)
                .collect(Collectors.toSet());
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

    private List<DatasetRevocation.Revoked> revoke(List<DatasetRevocation.Target> targets) {
        return revocation.revoke("lab", CephLab.fileSystem(), targets, _ -> true);
    }

    @Test
    void aStolenNodeIsShutOutAndReadersElsewhereNoticeNothing() throws IOException {
        VolumeKey stolen = identities.mint(dataset, STOLEN);
        VolumeKey spared = identities.mint(dataset, OTHER);
        assertNotEquals(stolen.secret(), spared.secret());
        assertEquals(spared, identities.mint(dataset, OTHER), "a retry");
        try (FuseMount there = mount("whatever-it-says", stolen);
                FuseMount elsewhere = mount(OTHER, spared)) {
            assertEquals("1", Files.readString(there.at("/one")));
            assertEquals("1", Files.readString(elsewhere.at("/one")));

            List<DatasetRevocation.Revoked> revoked =
                    revoke(revocation.at("lab", CephLab.fileSystem(), Optional.of(STOLEN), _ -> false));

            assertEquals(1, revoked.size());
            assertEquals(List.of(), revoked.getFirst().unfinished());
            assertEquals(Optional.of(PATH), revoked.getFirst().target().path());
            assertEquals(1, revoked.getFirst().ended().size(), "though its host says another name");
            assertThrows(IOException.class, () -> Files.readString(there.at("/two")), "in a session that was open");
            assertEquals("2", Files.readString(elsewhere.at("/two")));
        }
        assertFalse(canMount(stolen), "mon");
        assertTrue(canMount(spared));
        assertEquals(Set.of(spared.userId()), minted());
        VolumeKey again = identities.mint(dataset, STOLEN);
        assertNotEquals(stolen.secret(), again.secret());
        assertTrue(canMount(again), "a node that was not stolen goes on with another key");
    }

    /// Two controllers, each of which knows only its own pods. Both use the same Ceph cluster, and both Kubernetes
    /// clusters have a node with this name.
    @Test
    void theNodesOfAnotherKubernetesClusterKeepTheirKeysOfTheSameDataset() throws IOException {
        VolumeKey mine = identities.mint(dataset, STOLEN);
        VolumeKey another = others.mint(dataset, STOLEN);
        VolumeKey shared = others.mint(dataset);
        NoPods pods =
                new NoPods(new Dataset("keys", Optional.empty(), CephLab.fileSystem(), PATH, DIGEST, 1, Set.of("*")));
        try (FuseMount there = mount(STOLEN, another)) {
            IdleDatasetKeys idle = new IdleDatasetKeys(pods, ceph.ports().clusters(), identities);
            idle.reconcile();
            idle.reconcile();
            assertEquals(Set.of(another.userId(), shared.userId()), minted(), "an idle one is removed by its own");
            assertFalse(canMount(mine));

            VolumeKey again = identities.mint(dataset, STOLEN);
            var stolen = revocation.at("lab", CephLab.fileSystem(), Optional.of(STOLEN), _ -> false);
            assertEquals(1, revoke(stolen).size());
            assertFalse(canMount(again));
            var _ = identities.mint(dataset, STOLEN);
            assertEquals(1, revoke(revocation.of(dataset)).size(), "of a dataset");
            var _ = identities.mint(dataset, STOLEN);
            identities.remove(dataset);
            assertEquals(Set.of(another.userId(), shared.userId()), minted(), "a dataset that is declared no more");
            assertEquals("1", Files.readString(there.at("/one")));
        }
        assertTrue(canMount(another));
        assertTrue(canMount(shared));
    }

    /// The host name differs from the node's name in Kubernetes.
    @Test
    void aNodeIsFoundByItsSessionsToo() throws IOException {
        VolumeKey stolen = identities.mint(dataset, STOLEN);
        VolumeKey spared = identities.mint(dataset, OTHER);
        try (FuseMount _ = mount("its-hostname", stolen)) {
            List<DatasetRevocation.Target> found = revocation.at(
                    "lab",
                    CephLab.fileSystem(),
                    Optional.of("its-hostname"),
                    session -> session.host().equals("its-hostname"));
            assertEquals(
                    List.of(stolen.userId()),
                    found.stream().map(target -> target.identity().userId()).toList());
        }
        assertTrue(minted().contains(spared.userId()));
    }

    @Test
    void aKeyThatIsInUseIsToldAndNotReplaced() throws IOException {
        VolumeKey used = identities.mint(dataset, STOLEN);
        VolumeKey unused = identities.mint(dataset, OTHER);
        try (FuseMount there = mount(STOLEN, used)) {
            assertEquals("1", Files.readString(there.at("/one")));
            var found = revocation.inUse("lab", CephLab.fileSystem(), revocation.of(dataset));
            assertEquals(
                    List.of(used.userId()),
                    found.keySet().stream()
                            .map(target -> target.identity().userId())
                            .toList());
            var rest = revocation.of(dataset).stream()
                    .filter(target -> !found.containsKey(target))
                    .toList();
            assertEquals(1, revoke(rest).size());
            assertEquals("2", Files.readString(there.at("/two")));
        }
        assertFalse(canMount(unused));
        assertTrue(canMount(used));
    }

    /// Killed between any two steps: a retired key stays retired, and the node's next key gets another name.
    @Test
    void aRevocationThatWasKilledIsFinishedByARepeat() {
        VolumeKey stolen = identities.mint(dataset, STOLEN);
        ceph.identities().retire("lab", stolen.userId());
        assertFalse(canMount(stolen));
        VolumeKey next = identities.mint(dataset, STOLEN);
        assertNotEquals(stolen.userId(), next.userId());
        assertTrue(canMount(next));

        List<DatasetRevocation.Target> left = revocation.at("lab", CephLab.fileSystem(), Optional.empty(), _ -> false);
        assertEquals(
                List.of(stolen.userId()),
                left.stream().map(target -> target.identity().userId()).toList());
        assertEquals(List.of(), revoke(left).getFirst().unfinished());
        assertEquals(Set.of(next.userId()), minted());
    }

    @Test
    void allKeysOfADatasetAreRevokedAndClaimsGetAnother() throws IOException {
        VolumeKey shared = identities.mint(dataset);
        VolumeKey ofNode = identities.mint(dataset, OTHER);
        VolumeId.DatasetVolume claim = dataset.forUse("0123456789ab");
        copies.put(claim, "pvc-1", Optional.of(shared));
        try (FuseMount there = mount(STOLEN, shared);
                FuseMount elsewhere = mount(OTHER, ofNode)) {
            assertEquals("1", Files.readString(there.at("/one")));
            assertEquals("1", Files.readString(elsewhere.at("/one")));
            List<DatasetRevocation.Revoked> revoked = revoke(revocation.of(dataset));
            assertEquals(2, revoked.size());
            assertThrows(IOException.class, () -> Files.readString(there.at("/two")));
            assertThrows(IOException.class, () -> Files.readString(elsewhere.at("/two")));
        }
        assertFalse(canMount(shared));
        assertFalse(canMount(ofNode));
        VolumeKey another = copies.kept.getOrDefault(claim, Optional.empty()).orElseThrow();
        assertNotEquals(shared.secret(), another.secret());
        assertTrue(canMount(another));
        copies.remove(claim);
        var _ = revoke(revocation.of(dataset));
        assertThrows(DriverException.NotFound.class, () -> revocation.of(dataset));
    }
}
