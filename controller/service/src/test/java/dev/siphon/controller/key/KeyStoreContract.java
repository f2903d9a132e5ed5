package dev.siphon.controller.key;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/// The contract of every [KeyStore].
public abstract class KeyStoreContract {
    protected static final VolumeId.Provisioned VOLUME = volume("v1");
    protected static final VolumeId.Provisioned OTHER = volume("v2");

    /// The largest difference between a store's clock and ours.
    private static final Duration CLOCK = Duration.ofSeconds(2);

    protected static VolumeId.Provisioned volume(String name) {
        return new VolumeId.Provisioned("lab", "cephfs", "a1", name);
    }

    protected static VolumeKey key(VolumeId.Provisioned volume, String secret) {
        return new VolumeKey(VolumeIdentity.first(volume).userId(), secret);
    }

    /// Opens the store as another process does, without cached state.
    protected abstract KeyStore open();

    @Test
    void aKeyIsKeptReplacedAndForgotten() {
        KeyStore store = open();
        assertEquals(Optional.empty(), store.find(VOLUME));
        store.put(VOLUME, key(VOLUME, "first"));
        store.put(VOLUME, key(VOLUME, "second"));
        assertEquals(Optional.of(key(VOLUME, "second")), store.find(VOLUME));
        assertEquals(Optional.of(key(VOLUME, "second")), open().find(VOLUME));
        store.remove(VOLUME);
        store.remove(VOLUME);
        assertEquals(Optional.empty(), store.find(VOLUME));
        assertEquals(Optional.empty(), open().find(VOLUME));
    }

    @Test
    void everyVolumeHasItsOwn() {
        KeyStore store = open();
        assertEquals(List.of(), store.volumes());
        store.put(VOLUME, key(VOLUME, "first"));
        store.put(OTHER, key(OTHER, "second"));
        assertEquals(Set.of(VOLUME, OTHER), Set.copyOf(open().volumes()));
        assertEquals(Map.of(VOLUME, "siphon.cephfs.a1.v1", OTHER, "siphon.cephfs.a1.v2"), open().userIds());
        store.remove(VOLUME);
        assertEquals(List.of(OTHER), store.volumes());
        assertEquals("second", store.find(OTHER).orElseThrow().secret());
    }

    @Test
    void aKeyTellsSinceWhenItIsThere() {
        KeyStore store = open();
        assertEquals(Optional.empty(), store.since(VOLUME));
        Instant before = Instant.now().minus(CLOCK);
        store.put(VOLUME, key(VOLUME, "first"));
        Instant first = store.since(VOLUME).orElseThrow();
        assertTrue(first.isAfter(before), first + " is not after " + before);
        store.put(VOLUME, key(VOLUME, "second"));
        Instant second = open().since(VOLUME).orElseThrow();
        assertFalse(second.isBefore(first), second + " is before " + first);
        assertTrue(second.isBefore(Instant.now().plus(CLOCK)));
    }

    @Test
    void whatAnotherProcessDidIsSeen() {
        KeyStore store = open();
        assertEquals(List.of(), store.volumes());
        open().put(VOLUME, key(VOLUME, "first"));
        assertEquals("first", store.find(VOLUME).orElseThrow().secret());
        open().put(VOLUME, key(VOLUME, "second"));
        assertEquals("second", store.find(VOLUME).orElseThrow().secret());
        open().remove(VOLUME);
        assertEquals(Optional.empty(), store.find(VOLUME));
        store.put(VOLUME, key(VOLUME, "third"));
        open().remove(VOLUME);
        store.remove(VOLUME);
    }

    @Test
    void aVolumeThatHasAKeyMayHaveOne() {
        open().put(VOLUME, key(VOLUME, "first"));
        KeyStore store = open();
        assertTrue(store.mayHave(VOLUME));
        var _ = store.volumes();
        assertTrue(store.mayHave(VOLUME));
        store.put(OTHER, key(OTHER, "second"));
        assertTrue(store.mayHave(OTHER));
    }

    @Test
    void aNameIsNoKey() {
        KeyStore store = open();
        store.named(VOLUME, "pvc-1");
        assertTrue(store.hasPlaceFor(VOLUME));
        assertEquals(Optional.empty(), store.find(VOLUME));
        assertEquals(List.of(), store.volumes());
        store.remove(VOLUME);
    }

    @Test
    void ofKeysThatArePutAtOnceOneStaysWhole() throws InterruptedException {
        List<Future<Boolean>> puts = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 8; i++) {
                String secret = "secret-" + i;
                puts.add(threads.submit(() -> put(secret)));
            }
        }
        int done = 0;
        for (Future<Boolean> put : puts) {
            try {
                done += put.get() ? 1 : 0;
            } catch (ExecutionException failed) {
                throw new AssertionError(failed);
            }
        }
        assertTrue(done > 0, "nobody came through");
        String found = open().find(VOLUME).orElseThrow().secret();
        assertTrue(found.startsWith("secret-"), found);
        assertEquals(List.of(VOLUME), open().volumes());
    }

    /// Returns false if the caller must retry because others were faster too often.
    private boolean put(String secret) {
        try {
            open().put(VOLUME, key(VOLUME, secret));
            return true;
        } catch (DriverException.BackendUnavailable _) {
            return false;
        }
    }
}
