package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class DirectoryListingLockTest {
    private final DirectoryListingLock turns = new DirectoryListingLock();

    @Test
    void noTwoListOneDirectory() {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger together = new AtomicInteger();
        CompletableFuture<?>[] all = IntStream.range(0, 8)
                .mapToObj(_ -> CompletableFuture.runAsync(() -> {
                    for (int i = 0; i < 10_000; i++) {
                        together.addAndGet(turns.take("/a", () -> {
                            int others = inside.getAndIncrement();
                            inside.decrementAndGet();
                            return others;
                        }));
                    }
                }))
                .toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(all).orTimeout(30, TimeUnit.SECONDS).join();
        assertEquals(0, together.get());
        assertEquals(0, turns.directories());
    }

    @Test
    void differentDirectoriesAreListedAtOnceAndInOneAnother() {
        CompletableFuture<String> inside = new CompletableFuture<>();
        CompletableFuture<String> one = CompletableFuture.supplyAsync(() -> turns.take("/a", inside::join));
        assertEquals("deep", turns.take("/b", () -> turns.take("/b/c", () -> "deep")));
        inside.complete("done");
        assertEquals("done", one.orTimeout(30, TimeUnit.SECONDS).join());
    }

    @Test
    void oneThatFailsLetsTheNextIn() {
        assertThrows(
                IllegalStateException.class,
                () -> turns.take("/a", () -> {
                    throw new IllegalStateException("gone");
                }));
        assertEquals(0, turns.directories());
        assertEquals("next", turns.take("/a", () -> "next"));
    }
}
