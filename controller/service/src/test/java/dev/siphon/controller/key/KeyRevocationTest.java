package dev.siphon.controller.key;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.key.KeyRevocation.RevocationOutcome;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The order in which keys are revoked, and what remains after a failure. The black-box tests show that Ceph then
/// refuses the keys.
class KeyRevocationTest {
    private static final Map<String, String> CAPS = Map.of("osd", "allow rw pool=data namespace=ns");
    private static final VolumeCaps GRANT = new VolumeCaps("fs", "/volumes/g", Optional.empty(), "data", "ns");

    private final VolumeId.Provisioned one = new SubvolumeGroup("lab", "fs", "g").volume("one");
    private final VolumeId.Provisioned two = new SubvolumeGroup("lab", "fs", "g").volume("two");
    private final VolumeId.Provisioned far = new SubvolumeGroup("far", "fs", "g").volume("one");
    private final Cluster ceph = new Cluster();
    private final KeyStore store;

    KeyRevocationTest(@TempDir Path folder) throws IOException {
        store = new FileKeyStore(Files.createDirectory(
                folder.resolve("keys"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))));
    }

    private KeyRevocation revocation() {
        return new KeyRevocation(ceph, store, ceph, _ -> true, _ -> Optional.of(GRANT), Duration.ofMillis(300));
    }

    private void give(VolumeId.Provisioned volume, int generation) {
        VolumeIdentity identity = new VolumeIdentity(volume, generation);
        store.put(volume, ceph.mintNew(volume.cluster(), identity.userId(), CAPS));
    }

    private void mount(VolumeId.Provisioned volume, int generation) {
        ceph.open(volume.cluster(), new VolumeIdentity(volume, generation).userId());
    }

    private String current(VolumeId.Provisioned volume) {
        return store.find(volume).orElseThrow().userId();
    }

    @Test
    void allIdentitiesGoBeforeAnySessionAndNoKeyIsMintedBefore() {
        give(one, 1);
        give(one, 2);
        give(two, 1);
        mount(one, 1);
        mount(two, 1);
        ceph.done.clear();
        RevocationOutcome outcome = revocation().revoke(List.of(one, two));
        assertEquals(Map.of(), outcome.failed());
        assertEquals(
                List.of(
                        "remove siphon.fs.g.one",
                        "remove siphon.fs.g.one.2",
                        "remove siphon.fs.g.two",
                        "end [siphon.fs.g.one, siphon.fs.g.two]",
                        "mint siphon.fs.g.one.3",
                        "mint siphon.fs.g.two.2"),
                ceph.done);
        assertEquals("siphon.fs.g.one.3", current(one));
        assertEquals("siphon.fs.g.two.2", current(two));
        outcome.revoked().forEach(each -> assertEquals(Optional.of("data/ns"), each.objects()));
    }

    @Test
    void whatIsMintedAndOpenedMeanwhileIsGoneAtTheEnd() {
        give(one, 1);
        mount(one, 1);
        ceph.atEnd = () -> {
            give(one, 1);
            mount(one, 1);
        };
        RevocationOutcome outcome = revocation().revoke(List.of(one));
        assertEquals(List.of(), outcome.revoked().getFirst().unfinished());
        assertEquals(Set.of("lab siphon.fs.g.one.2"), ceph.secrets.keySet());
        assertEquals(List.of(), ceph.all("lab", "fs"));
    }

    @Test
    void whoComesAgainEachTimeIsNamedAndTheVolumeGetsItsKey() {
        give(one, 1);
        mount(one, 1);
        ceph.stubborn = true;
        RevocationOutcome outcome = revocation().revoke(List.of(one));
        String unfinished = outcome.revoked().getFirst().unfinished().getFirst();
        assertTrue(unfinished.contains("client.siphon.fs.g.one at host@192.0.2.1"), unfinished);
        assertEquals("siphon.fs.g.one.2", current(one));
    }

    @Test
    void aRunThatWasCutOffAnywhereIsFinishedByARepeat() {
        for (String at : List.of("remove", "end", "mint")) {
            give(one, 1);
            VolumeKey stolen = store.find(one).orElseThrow();
            mount(one, 1);
            ceph.failsAt = at;
            RevocationOutcome cutOff = revocation().revoke(List.of(one));
            assertTrue(
                    !cutOff.failed().isEmpty()
                            || !cutOff.revoked().getFirst().unfinished().isEmpty(),
                    at);
            ceph.failsAt = "";
            RevocationOutcome repeated = revocation().revoke(List.of(one));
            assertEquals(Map.of(), repeated.failed(), at);
            assertEquals(List.of(), repeated.revoked().getFirst().unfinished(), at);
            assertEquals(Set.of("lab " + current(one)), ceph.secrets.keySet(), at);
            assertNotEquals(stolen.secret(), store.find(one).orElseThrow().secret(), at);
            assertEquals(List.of(), ceph.all("lab", "fs"), at);
            ceph.secrets.clear();
        }
    }

    @Test
    void noGenerationComesTwice() {
        give(one, 3);
        ceph.remove("lab", current(one));
        RevocationOutcome _ = revocation().revoke(List.of(one));
        assertEquals("siphon.fs.g.one.4", current(one), "the store remembers the one that is gone");
        String stolen = ceph.mintNew("lab", "siphon.fs.g.one.5", CAPS).secret();
        VolumeIdentity next = new VolumeIdentities(ceph, store, _ -> true).follow(new VolumeIdentity(one, 4));
        assertEquals(6, next.generation());
        assertNotEquals(stolen, store.find(one).orElseThrow().secret());
    }

    @Test
    void aDeadClusterKeepsNoOther() {
        give(one, 1);
        give(far, 1);
        ceph.dead = "far";
        RevocationOutcome outcome = revocation().revoke(List.of(far, one));
        assertInstanceOf(
                DriverException.BackendUnavailable.class, outcome.failed().get(far));
        assertEquals(Set.of(far), outcome.failed().keySet());
        assertEquals("siphon.fs.g.one.2", current(one));
        assertEquals("siphon.fs.g.one", current(far));
    }

    @Test
    void sessionsElsewhereGoOnAndAreTold() {
        give(one, 1);
        mount(one, 1);
        RevocationOutcome outcome = revocation().revokeAt(List.of(one), _ -> false);
        assertEquals(1, outcome.revoked().getFirst().elsewhere().size());
        assertEquals(1, ceph.all("lab", "fs").size());
    }

    /// Identities and sessions of two clusters.
    private static final class Cluster implements Identities, ClientSessions {
        private final Map<String, String> secrets = new TreeMap<>();
        private final Map<ClientSession, String> open = new LinkedHashMap<>();
        private final List<String> done = new ArrayList<>();
        private Runnable atEnd = () -> {};
        private String failsAt = "";
        private String dead = "";
        private boolean stubborn;
        private long ids;

        private void open(String cluster, String userId) {
            open.put(new ClientSession(1, ids++, userId, "host", "192.0.2.1"), cluster);
        }

        private void answer(String cluster, String what, Object of) {
            if (cluster.equals(dead) || what.equals(failsAt)) {
                throw new DriverException.BackendUnavailable(what + " is not answered");
            }
            done.add(what + " " + of);
        }

        @Override
        public VolumeKey mint(String cluster, String userId, VolumeCaps volumeCaps) {
            return mintNew(cluster, userId, volumeCaps);
        }

        @Override
        public Optional<VolumeKey> mintUnlessRetired(String cluster, String userId, VolumeCaps volumeCaps) {
            throw new IllegalStateException("volumes have generations");
        }

        @Override
        public void retire(String cluster, String userId) {
            throw new IllegalStateException("volumes have generations");
        }

        @Override
        public VolumeKey mintNew(String cluster, String userId, VolumeCaps volumeCaps) {
            return mintNew(cluster, userId, Map.of("osd", "allow r pool=" + volumeCaps.pool() + " namespace=ns"));
        }

        @Override
        public VolumeKey mintNew(String cluster, String userId, Map<String, String> caps) {
            answer(cluster, "mint", userId);
            String secret = "secret " + ids++;
            assertEquals(Optional.empty(), Optional.ofNullable(secrets.put(cluster + " " + userId, secret)));
            return new VolumeKey(userId, secret);
        }

        @Override
        public void remove(String cluster, String userId) {
            answer(cluster, "remove", userId);
            String _ = secrets.remove(cluster + " " + userId);
        }

        @Override
        public List<String> startingWith(String cluster, String prefix) {
            return minted(cluster, prefix).stream().map(MintedIdentity::userId).toList();
        }

        @Override
        public List<MintedIdentity> minted(String cluster, String prefix) {
            return new TreeSet<>(secrets.keySet())
                    .stream()
                            .filter(id -> id.startsWith(cluster + " " + prefix))
                            .map(id -> new MintedIdentity(id.substring(cluster.length() + 1), CAPS))
                            .toList();
        }

        @Override
        public List<ClientSession> mounting(VolumeId.Provisioned volume) {
            throw new IllegalStateException("who goes by keys does not look at paths");
        }

        @Override
        public List<ClientSession> all(String cluster, String fileSystem) {
            if (cluster.equals(dead)) {
                throw new DriverException.BackendUnavailable("cluster " + cluster + " does not answer");
            }
            return open.entrySet().stream()
                    .filter(each -> each.getValue().equals(cluster))
                    .map(Map.Entry::getKey)
                    .toList();
        }

        @Override
        public List<ClientSession> of(String cluster, String fileSystem, String userId) {
            return all(cluster, fileSystem).stream()
                    .filter(session -> session.userId().equals(userId))
                    .toList();
        }

        @Override
        public void end(String cluster, List<ClientSession> sessions) {
            answer(
                    cluster,
                    "end",
                    sessions.stream().map(ClientSession::userId).sorted().toList());
            sessions.forEach(open::remove);
            if (stubborn) {
                sessions.forEach(session -> open(cluster, session.userId()));
            }
            Runnable now = atEnd;
            atEnd = () -> {};
            now.run();
        }

        @Override
        public void block(String cluster, String address, Duration time) {
            answer(cluster, "block", address);
        }
    }
}
