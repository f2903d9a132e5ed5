package dev.siphon.controller.key;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.ceph.CephAdapter;
import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.ClustersFile;
import dev.siphon.controller.ceph.FuseMount;
import dev.siphon.controller.ceph.call.CallLimits;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.CapacityRange;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.Domain;
import dev.siphon.controller.volume.Group;
import dev.siphon.controller.volume.InMemoryDirectory;
import dev.siphon.controller.volume.Volume;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.csi.VolumeId;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Keys of volumes on a real cluster: who has one opens that volume, and nothing else. Each attack has its
/// control: the same call with the rightful key succeeds.
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class VolumeKeysIT {
    private static final Duration FOLLOWS_WITHIN = Duration.ofSeconds(10);
    private static final long SIZE = 1 << 30;

    private Path folder = Path.of("");

    private CephAdapter adapter;
    private FileKeyStore store;
    private VolumeKeys keys;
    private Domain domain;
    private VolumeId.Provisioned mine;
    private VolumeId.Provisioned beside;
    private VolumeId.Provisioned others;
    private VolumeId.Provisioned spare;
    private Attacker attacker;
    private Attacker rightful;

    @BeforeAll
    void makeVolumes(@TempDir Path empty) throws IOException {
        folder = empty;
        adapter = CephAdapter.open(
                new ClustersFile(List.of(CephLab.access()), Optional.of("lab")),
                CephLab.identity(),
                CallLimits.DEFAULT,
                Optional.empty(),
                CephLab.PATIENT,
                new PrometheusRegistry());
        store = new FileKeyStore(Files.createDirectory(
                folder.resolve("keys"),
                java.nio.file.attribute.PosixFilePermissions.asFileAttribute(
                        java.nio.file.attribute.PosixFilePermissions.fromString("rwx------"))));
        keys = new VolumeKeys(adapter.ports(), adapter.identities(), store, CephLab.PATIENT);
        domain = domain();
        mine = create("keys-mine", "u1");
        beside = create("keys-beside", "u1");
        others = create("keys-others", "u2");
        spare = create("keys-spare", "u2");
        List.of(mine, beside, others, spare).forEach(this::awaitKey);
        attacker = new Attacker(store.find(mine).orElseThrow(), folder);
        rightful = new Attacker(store.find(others).orElseThrow(), folder);
    }

    @AfterAll
    void removeVolumes() {
        List.of(mine, beside, others, spare).forEach(domain.volumes()::delete);
        assertEquals(List.of(), adapter.identities().startingWith("lab", VolumeIdentity.PREFIX));
        assertEquals(List.of(), store.volumes());
        keys.close();
        adapter.close();
    }

    private Domain domain() {
        Map<String, Account> accounts = Map.of(
                "u1", new Account("u1", "keys-1", 10_001, 10_001, Set.of(), OptionalLong.empty()),
                "u2", new Account("u2", "keys-2", 10_002, 10_002, Set.of(), OptionalLong.empty()));
        return Domain.over(adapter.ports(), new InMemoryDirectory(accounts), Optional.empty(), keys, CephLab.PATIENT);
    }

    private VolumeId.Provisioned create(String name, String owner) {
        Volume made = domain.volumes()
                .create(new VolumeRequest(
                        name,
                        new CapacityRange(SIZE, 0),
                        ClassParameters.parse(Map.of("owner", owner)),
                        false,
                        Optional.empty()));
        return (VolumeId.Provisioned) made.id();
    }

    private void awaitKey(VolumeId.Provisioned volume) {
        CephLab.await(FOLLOWS_WITHIN, () -> store.find(volume).isPresent());
    }

    private String data(VolumeId.Provisioned volume) {
        return adapter.ports()
                .subvolumes()
                .find(volume)
                .orElseThrow()
                .dataPath()
                .orElseThrow();
    }

    private static String inGroup(VolumeId.Provisioned volume, String data) {
        return data.substring(Group.of(volume).path().length());
    }

    @Test
    void theKeyOpensItsVolume() throws IOException {
        try (FuseMount mount = attacker.mount(Group.of(mine).path())) {
            Path file = mount.at(inGroup(mine, data(mine)) + "/file");
            Files.writeString(file, "mine");
            assertEquals("mine", Files.readString(file));
        }
    }

    @Test
    void theVolumeBesideItInTheGroupIsNotWritten() throws IOException {
        try (FuseMount mount = attacker.mount(Group.of(mine).path())) {
            Path besides = mount.at(inGroup(beside, data(beside)) + "/file");
            assertThrows(IOException.class, () -> Files.writeString(besides, "not mine"));
            Path data = mount.at(inGroup(mine, data(mine)));
            assertThrows(IOException.class, () -> Files.move(data, data.resolveSibling("elsewhere")), "renamed");
            assertThrows(IOException.class, () -> Files.writeString(data.resolveSibling(".meta"), "x"), ".meta");
            assertThrows(IOException.class, () -> Files.createDirectory(mount.at("/more")), "beside the volumes");
        }
    }

    @Test
    void nothingElseIsMounted() throws IOException {
        String foreign = Group.of(others).path();
        rightful.mount(foreign).close();
        for (String directory : List.of(foreign, data(others), "/", "/volumes")) {
            assertThrows(IllegalStateException.class, () -> attacker.mount(directory), directory);
        }
    }

    @Test
    void objectsOfOthersAreNeitherReadNorWrittenNorListed() throws IOException {
        try (FuseMount mount = rightful.mount(Group.of(others).path())) {
            Files.writeString(mount.at(inGroup(others, data(others)) + "/secret"), "the others' data");
        }
        var layout = adapter.ports().files().layout("lab", CephLab.fileSystem(), data(others));
        String[] place = {"--pool", layout.pool(), "--namespace", layout.namespace()};
        Attacker.Said listed = rightful.tool("rados", words(place, "ls"));
        assertTrue(listed.succeeded(), listed.text());
        String object = listed.text().lines().findFirst().orElseThrow();
        Path copy = folder.resolve("object");
        assertTrue(rightful.tool("rados", words(place, "get", object, copy.toString()))
                .succeeded());

        assertRefused(attacker.tool("rados", words(place, "ls")));
        assertRefused(attacker.tool("rados", words(place, "get", object, copy.toString())));
        assertRefused(attacker.tool("rados", words(place, "put", object, copy.toString())));
        assertRefused(attacker.tool("rados", "--pool", layout.pool(), "ls", "--all"));
    }

    @Test
    void noCommandIsAllowed() {
        assertRefused(attacker.tool("ceph", "--connect-timeout=10", "auth", "ls"));
        assertRefused(attacker.tool("ceph", "--connect-timeout=10", "fs", "subvolume", "ls", CephLab.fileSystem()));
        assertRefused(attacker.tool(
                "ceph", "--connect-timeout=10", "auth", "get-or-create", "client.evil", "mon", "allow *"));
        assertRefused(attacker.tool("ceph", "--connect-timeout=10", "osd", "blocklist", "add", "192.0.2.1"));
        assertRefused(attacker.tool("ceph", "--connect-timeout=10", "tell", "mds.*", "session", "ls"));
    }

    @Test
    void aQuotaIsNotChanged() throws IOException {
        try (FuseMount mount = attacker.mount(Group.of(mine).path())) {
            String data = mount.at(inGroup(mine, data(mine))).toString();
            for (String name : List.of("ceph.quota.max_bytes", "ceph.dir.layout.pool_namespace")) {
                assertRefused(setAttribute(data, name, "1"));
                try (FuseMount admin = FuseMount.mount()) {
                    Attacker.Said control = setAttribute(admin.at(data(spare)).toString(), name, "1");
                    assertTrue(control.succeeded(), control.text());
                }
            }
        }
    }

    private static Attacker.Said setAttribute(String path, String name, String value) {
        String program = "import os, sys; os.setxattr(sys.argv[1], sys.argv[2], sys.argv[3].encode())";
        return Attacker.run(List.of("python3", "-c", program, path, name, value));
    }

    @Test
    void aKeyGoesWithItsVolumeAndIsNotInherited() {
        VolumeId.Provisioned volume = create("keys-again", "u1");
        awaitKey(volume);
        VolumeKey first = store.find(volume).orElseThrow();
        domain.volumes().delete(volume);
        assertEquals(Optional.empty(), store.find(volume));
        assertFalse(
                adapter.identities().startingWith("lab", VolumeIdentity.PREFIX).contains(first.userId()));

        assertEquals(volume, create("keys-again", "u1"));
        awaitKey(volume);
        assertNotEquals(first.secret(), store.find(volume).orElseThrow().secret());
        domain.volumes().delete(volume);
    }

    @Test
    void whatAKilledControllerLeftWithoutAKeyGetsOne() {
        VolumeId.Provisioned volume = create("keys-cut-off", "u1");
        awaitKey(volume);
        VolumeKey before = store.find(volume).orElseThrow();
        store.remove(volume);
        try (VolumeKeys restarted =
                new VolumeKeys(adapter.ports(), adapter.identities(), store, CephLab.PATIENT).start()) {
            awaitKey(volume);
            assertEquals(before, store.find(volume).orElseThrow(), "the identity was there");
            assertEquals(0, restarted.waiting());
        }
        adapter.identities().remove("lab", before.userId());
        try (VolumeKeys _ = new VolumeKeys(adapter.ports(), adapter.identities(), store, CephLab.PATIENT).start()) {
            CephLab.await(
                    FOLLOWS_WITHIN, () -> !store.find(volume).orElseThrow().equals(before));
        }
        domain.volumes().delete(volume);
    }

    private static void assertRefused(Attacker.Said said) {
        assertFalse(said.succeeded(), said.text());
        assertTrue(
                said.text().matches("(?si).*(permission denied|not permitted|EACCES|EPERM|access denied).*"),
                said.text());
    }

    private static String[] words(String[] first, String... more) {
        return java.util.stream.Stream.concat(java.util.Arrays.stream(first), java.util.Arrays.stream(more))
                .toArray(String[]::new);
    }
}
