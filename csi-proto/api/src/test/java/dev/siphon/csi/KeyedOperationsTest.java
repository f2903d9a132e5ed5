package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class KeyedOperationsTest {
    private final KeyedOperations operations = new KeyedOperations();

    @Test
    void aSecondOperationOnAKeyIsToldToComeBack() {
        String result = operations.run("a", () -> {
            assertThrows(DriverException.OperationPending.class, () -> operations.run("a", () -> "second"));
            return operations.run("b", () -> "another key");
        });
        assertEquals("another key", result);
        assertEquals("again", operations.run("a", () -> "again"));
        assertEquals(0, operations.inFlight());
    }

    @Test
    void aKeyIsFreedWhateverTheOperationThrows() {
        assertThrows(
                IllegalStateException.class,
                () -> operations.run("a", () -> {
                    throw new IllegalStateException();
                }));
        assertEquals(0, operations.inFlight());
    }

    @Test
    void aKeyStaysTakenUntilTheCallThatOutlivesItsCallerHasEnded() {
        CompletableFuture<String> call = new CompletableFuture<>();
        operations.run("a", () -> KeyedOperations.outlive(call));
        assertThrows(DriverException.OperationPending.class, () -> operations.run("a", () -> "too early"));
        assertTrue(call.completeExceptionally(new IllegalStateException("the call failed late")));
        assertEquals("now", operations.run("a", () -> "now"));
    }

    @Test
    void anInnerCallKeepsTheOuterKeyToo() {
        CompletableFuture<String> call = new CompletableFuture<>();
        operations.run("outer", () -> operations.run("inner", () -> KeyedOperations.outlive(call)));
        assertThrows(DriverException.OperationPending.class, () -> operations.run("outer", () -> "too early"));
        assertTrue(call.complete("done"));
        assertEquals("now", operations.run("outer", () -> "now"));
        assertEquals(0, operations.inFlight());
    }

    @Test
    void outsideAnOperationThereIsNothingToKeep() {
        KeyedOperations.outlive(new CompletableFuture<>());
        assertEquals(0, operations.inFlight());
    }

    @Test
    void sharersKeepOutWhoWantsTheKeyAlone() {
        operations.runShared("a", () -> {
            assertEquals("second", operations.runShared("a", () -> "second"));
            assertThrows(DriverException.OperationPending.class, () -> operations.run("a", () -> "alone"));
            return "first";
        });
        operations.run("a", () -> {
            assertThrows(DriverException.OperationPending.class, () -> operations.runShared("a", () -> "shared"));
        });
        assertEquals(0, operations.inFlight());
    }

    @Test
    void ofManyAtOnceExactlyOneRuns() throws Exception {
        int callers = 32;
        CountDownLatch allThere = new CountDownLatch(callers);
        CountDownLatch refusedAll = new CountDownLatch(callers - 1);
        AtomicInteger ran = new AtomicInteger();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < callers; i++) {
                var _ = threads.submit(() -> {
                    allThere.countDown();
                    allThere.await();
                    try {
                        operations.run("a", () -> {
                            ran.incrementAndGet();
                            awaitAll(refusedAll);
                        });
                    } catch (DriverException.OperationPending _) {
                        refusedAll.countDown();
                    }
                    return true;
                });
            }
        }
        assertEquals(1, ran.get());
        assertEquals(0, operations.inFlight());
    }

    private static void awaitAll(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
