package dev.siphon.controller.key;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.controller.ceph.CephAdapter;
import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.AccountAccess;
import dev.siphon.controller.volume.Callers;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.ControllerDomain;
import dev.siphon.controller.volume.InMemoryDirectory;
import dev.siphon.controller.volume.Owners;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
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

/// Volume keys on a real cluster are created and deleted with their volumes. The black-box tests show what they
/// permit.
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class VolumeKeysIT {
    private static final Duration FOLLOWS_WITHIN = Duration.ofSeconds(10);
    private static final long SIZE = 1 << 30;

    private CephAdapter adapter;
    private FileKeyStore store;
    private VolumeKeys keys;
    private ControllerDomain domain;

    @BeforeAll
    void connect(@TempDir Path folder) throws IOException {
        adapter = CephLab.adapter();
        store = new FileKeyStore(Files.createDirectory(
                folder.resolve("keys"),
                java.nio.file.attribute.PosixFilePermissions.asFileAttribute(
                        java.nio.file.attribute.PosixFilePermissions.fromString("rwx------"))));
        keys = new VolumeKeys(adapter.ports(), adapter.identities(), store, CephLab.PATIENT);
        domain = domain();
    }

    @AfterAll
    void disconnect() {
        assertEquals(List.of(), adapter.identities().startingWith("lab", VolumeIdentity.PREFIX));
        assertEquals(List.of(), store.volumes());
        keys.close();
        adapter.close();
    }

    private ControllerDomain domain() {
        Map<String, Account> accounts = Map.of(
                "u1", new Account("u1", "keys-1", 10_001, 10_001, Set.of(), OptionalLong.empty()),
                "u2", new Account("u2", "keys-2", 10_002, 10_002, Set.of(), OptionalLong.empty()));
        Owners owners = new Owners(new InMemoryDirectory(accounts), Optional.empty(), Optional.empty());
        return ControllerDomain.over(adapter.ports(), owners, new Callers(keys, AccountAccess.NONE), CephLab.PATIENT);
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

    private VolumeKeys restarted() {
        return new VolumeKeys(adapter.ports(), adapter.identities(), store, CephLab.PATIENT)
                .start(new BackgroundTasks());
    }

    private VolumeKeys lookingEverySecond() {
        return new VolumeKeys(adapter.ports(), adapter.identities(), store, CephLab.PATIENT)
                .start(new BackgroundTasks(), Duration.ofSeconds(1));
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
        try (VolumeKeys restarted = restarted()) {
            awaitKey(volume);
            assertEquals(before, store.find(volume).orElseThrow(), "the identity was there");
            assertEquals(0, restarted.waiting());
        }
        adapter.identities().remove("lab", before.userId());
        try (VolumeKeys _ = restarted()) {
            CephLab.await(
                    FOLLOWS_WITHIN, () -> !store.find(volume).orElseThrow().equals(before));
        }
        domain.volumes().delete(volume);
    }

    @Test
    void whatSomebodyRemovesIsPutBack() {
        VolumeId.Provisioned volume = create("keys-removed", "u1");
        awaitKey(volume);
        VolumeKey before = store.find(volume).orElseThrow();
        store.remove(volume);
        try (VolumeKeys _ = lookingEverySecond()) {
            awaitKey(volume);
            // the initial scan is over by now
            store.remove(volume);
            awaitKey(volume);
            assertEquals(before, store.find(volume).orElseThrow(), "the identity was there");
            adapter.identities().remove("lab", before.userId());
            CephLab.await(
                    FOLLOWS_WITHIN, () -> !store.find(volume).orElseThrow().equals(before));
        }
        domain.volumes().delete(volume);
    }

    private VolumeKey mintBeside(VolumeIdentity first) {
        return adapter.identities()
                .mintNew(
                        "lab",
                        new VolumeIdentity(first.volume(), 2).userId(),
                        adapter.identities()
                                .minted("lab", first.userId())
                                .getFirst()
                                .caps());
    }

    @Test
    void aNewKeyIsNoneThatWasThereBefore() {
        VolumeId.Provisioned volume = create("keys-new", "u1");
        awaitKey(volume);
        VolumeIdentity first = VolumeIdentity.first(volume);
        VolumeKey second = mintBeside(first);
        assertThrows(DriverException.OperationPending.class, () -> mintBeside(first));
        VolumeIdentities known = new VolumeIdentities(adapter.identities(), store, _ -> true);
        VolumeIdentity third = known.follow(first);
        assertEquals(3, third.generation());
        assertNotEquals(second.secret(), store.find(volume).orElseThrow().secret());
        domain.volumes().delete(volume);
    }

    @Test
    void aReplacedKeyThatWasLostIsFoundAgainAndNotTheFirst() {
        VolumeId.Provisioned volume = create("keys-replaced", "u1");
        awaitKey(volume);
        VolumeIdentity first = VolumeIdentity.first(volume);
        VolumeKey second = mintBeside(first);
        assertNotEquals(store.find(volume).orElseThrow().secret(), second.secret());
        store.remove(volume);
        try (VolumeKeys _ = restarted()) {
            awaitKey(volume);
            assertEquals(second, store.find(volume).orElseThrow());
        }
        domain.volumes().delete(volume);
    }

    @Test
    void aReplacedKeyThatWasLostGoesWithItsVolumeToo() {
        VolumeId.Provisioned volume = create("keys-lost", "u1");
        awaitKey(volume);
        VolumeIdentity first = VolumeIdentity.first(volume);
        store.put(volume, mintBeside(first));
        adapter.identities().remove("lab", first.userId());
        store.remove(volume);
        domain.volumes().delete(volume);
        assertEquals(List.of(), adapter.identities().startingWith("lab", first.userId()));
    }

    /// The state after a DeleteVolume that timed out and that nobody retries.
    @Test
    void whatAVolumeThatWentLaterHasLeftIsRemoved() {
        VolumeId.Provisioned stays = create("keys-stays", "u1");
        awaitKey(stays);
        VolumeKey kept = store.find(stays).orElseThrow();
        VolumeId.Provisioned volume = create("keys-later", "u1");
        awaitKey(volume);
        try (VolumeKeys looking = lookingEverySecond()) {
            // ensures that the initial scan is over
            store.remove(stays);
            awaitKey(stays);
            List.of(volume, stays).forEach(looking::leaving);
            adapter.ports().subvolumes().remove(volume);
            CephLab.await(FOLLOWS_WITHIN, () -> !store.volumes().contains(volume));
        }
        assertNothingOf(volume);

        // the controller that got the request died before the volume was gone
        assertEquals(volume, create("keys-later", "u1"));
        awaitKey(volume);
        adapter.ports().subvolumes().remove(volume);
        try (VolumeKeys _ = lookingEverySecond()) {
            CephLab.await(FOLLOWS_WITHIN, () -> !store.volumes().contains(volume));
        }
        assertNothingOf(volume);
        assertEquals(Optional.of(kept), store.find(stays));
        domain.volumes().delete(stays);
    }

    private void assertNothingOf(VolumeId.Provisioned volume) {
        assertEquals(
                List.of(),
                adapter.identities()
                        .startingWith("lab", VolumeIdentity.first(volume).userId()));
    }

    @Test
    void aVolumeThatComesAfterOneThatWentUnseenHasAKeyOfItsOwn() {
        VolumeId.Provisioned volume = create("keys-unseen", "u1");
        awaitKey(volume);
        VolumeKey before = store.find(volume).orElseThrow();
        keys.leaving(volume);
        adapter.ports().subvolumes().remove(volume);
        ControllerDomain another = domain();
        assertEquals(
                volume,
                another.volumes()
                        .create(new VolumeRequest(
                                "keys-unseen",
                                new CapacityRange(SIZE, 0),
                                ClassParameters.parse(Map.of("owner", "u1")),
                                false,
                                Optional.empty()))
                        .id());
        CephLab.await(FOLLOWS_WITHIN, () -> !store.find(volume).orElseThrow().equals(before));
        domain.volumes().delete(volume);
    }
}
