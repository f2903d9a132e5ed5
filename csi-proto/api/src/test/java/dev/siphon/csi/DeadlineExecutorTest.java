package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException.BackendUnavailable;
import dev.siphon.csi.DriverException.DeadlinePassed;
import dev.siphon.csi.DriverException.OperationPending;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The calls hang in open(2) of a FIFO that nobody writes to, which neither an interrupt nor a deadline ends.
@Timeout(60)
final class DeadlineExecutorTest {
    private static final Duration SHORT = Duration.ofMillis(30);
    private static final Duration LONG = Duration.ofSeconds(30);

    /// More than any test has readers.
    private static final byte[] BYTES = new byte[64];

    private final DeadlineExecutor calls = executor(4, 2);
    private final KeyedOperations keys = new KeyedOperations();

    @TempDir
    private Path directory;

    private Path fifo;
    private Optional<RandomAccessFile> writer = Optional.empty();

    private static DeadlineExecutor executor(int most, int mostOfOwner) {
        return new DeadlineExecutor(
                Thread.ofPlatform().daemon().name("test-", 0).factory(), most, mostOfOwner);
    }

    @BeforeEach
    void makeFifo() throws Exception {
        fifo = directory.resolve("fifo");
        assertEquals(0, new ProcessBuilder("mkfifo", fifo.toString()).start().waitFor());
    }

    @AfterEach
    void letAllReturn() throws IOException {
        write();
        calls.close();
        calls.drained().join();
        writer.orElseThrow().close();
    }

    /// Hangs until [#write].
    private int read() {
        try (InputStream in = Files.newInputStream(fifo)) {
            return in.read();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void write() throws IOException {
        if (writer.isEmpty()) {
            // opened for both, it waits for nobody
            RandomAccessFile both = new RandomAccessFile(fifo.toFile(), "rw");
            both.write(BYTES);
            writer = Optional.of(both);
        }
    }

    private void hang(String owner) {
        assertThrows(DeadlinePassed.class, () -> calls.run(owner, owner, SHORT, this::read));
        awaitBlocked(owner);
    }

    private static void awaitBlocked(String what) {
        while (blocked(what).isEmpty()) {
            Thread.onSpinWait();
        }
    }

    /// Returns the threads that a thread dump shows in open(2) for `what`.
    private static List<String> blocked(String what) {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(each -> each.getValue().length > 0
                        && each.getValue()[0].getMethodName().equals("open0"))
                .map(each -> each.getKey().getName())
                .filter(name -> name.startsWith("test-") && name.endsWith(" " + what))
                .toList();
    }

    private static void awaitIdle(DeadlineExecutor executor) {
        while (executor.underWay() > 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aCallReturnsItsResultOnAPlatformThread() {
        assertEquals(
                Optional.of(false),
                calls.run("v", "w", LONG, () -> Thread.currentThread().isVirtual()));
        assertEquals(0, calls.underWay());
    }

    @Test
    void aCallsOwnErrorComesThrough() {
        DriverException.InUse thrown = new DriverException.InUse("busy");
        assertSame(
                thrown,
                assertThrows(
                        DriverException.InUse.class,
                        () -> calls.run("v", "w", LONG, () -> {
                            throw thrown;
                        })));
        assertThrows(
                AssertionError.class,
                () -> calls.check("v", "w", LONG, () -> {
                    throw new AssertionError("bug");
                }));
        assertEquals(0, calls.underWay());
    }

    @Test
    void whereNoThreadCanStartTheCallIsRefusedAndItsPlaceIsFree() {
        AtomicInteger started = new AtomicInteger();
        DeadlineExecutor none = new DeadlineExecutor(
                body -> {
                    if (started.getAndIncrement() < 2) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    return Thread.ofPlatform().daemon().name("test-again").unstarted(body);
                },
                1,
                1);
        assertThrows(BackendUnavailable.class, () -> none.run("v", "w", LONG, () -> "never"));
        assertThrows(BackendUnavailable.class, () -> none.check("v", "w", LONG, () -> "never"));
        assertEquals(Optional.of("now"), none.run("v", "w", LONG, () -> "now"));
        assertEquals("now", none.check("v", "w", LONG, () -> "now"));
        none.close();
        none.drained().join();
    }

    @Test
    void whoWaitsForAPlaceLeavesWhenTheExecutorCloses() throws IOException {
        DeadlineExecutor one = executor(1, 1);
        CompletableFuture<Optional<Integer>> hung =
                CompletableFuture.supplyAsync(() -> one.run("v", "hung", LONG, this::read));
        awaitBlocked("hung");
        CompletableFuture<Optional<String>> waits =
                CompletableFuture.supplyAsync(() -> one.run("w", "waits", LONG, () -> "never"));
        one.close();
        assertEquals(Optional.empty(), waits.orTimeout(10, TimeUnit.SECONDS).join());
        write();
        assertEquals(Optional.of(0), hung.join());
        one.drained().join();
    }

    @Test
    void theKeyOfACallThatOutlivesItsCallerStaysTakenUntilItReturns() throws IOException {
        DeadlinePassed late = assertThrows(
                DeadlinePassed.class, () -> keys.run("key", () -> calls.run("v", "mount v", SHORT, this::read)));
        assertEquals("mount v gave no answer within 30 ms and may still take effect; retry", late.getMessage());
        awaitBlocked("mount v");
        assertThrows(OperationPending.class, () -> keys.run("key", () -> "too early"));
        assertEquals(1, calls.underWay());
        write();
        while (keys.inFlight() > 0) {
            Thread.onSpinWait();
        }
        assertEquals("now", keys.run("key", () -> "now"));
        awaitIdle(calls);
    }

    @Test
    void aThreadDumpNamesWhatIsBlocked() throws IOException {
        hang("volume 1");
        hang("volume 2");
        assertEquals(1, blocked("volume 1").size());
        assertEquals(1, blocked("volume 2").size());
        write();
        awaitIdle(calls);
        assertEquals(
                Optional.of(true),
                calls.run(
                        "v", "now", LONG, () -> Thread.currentThread().getName().matches("test-\\d+ now")));
    }

    @Test
    void aCallThatIsNotAnsweredIsGivenUpAndFreesItsKey() {
        assertThrows(DeadlinePassed.class, () -> keys.run("key", () -> calls.run("v", "w", SHORT, this::read)));
        assertFalse(calls.giveUpLost(LONG, LONG));
        assertEquals(1, keys.inFlight());
        assertTrue(calls.giveUpLost(Duration.ZERO, LONG));
        assertEquals(0, keys.inFlight());
        assertEquals(1, calls.underWay());
    }

    @Test
    void aCallIsNotGivenUpWhileOthersAreAnsweredUntilItIsLost() {
        hang("v");
        assertEquals(Optional.of("now"), calls.run("v", "other", LONG, () -> "now"));
        assertFalse(calls.giveUpLost(Duration.ZERO, LONG));
        assertTrue(calls.giveUpLost(Duration.ZERO, Duration.ZERO));
    }

    @Test
    void aCallWhoseCallerStillWaitsIsNotGivenUp() throws IOException {
        CompletableFuture<Optional<Integer>> waiting =
                CompletableFuture.supplyAsync(() -> calls.run("v", "w", LONG, this::read));
        awaitBlocked("w");
        assertFalse(calls.giveUpLost(Duration.ZERO, Duration.ZERO));
        write();
        assertEquals(Optional.of(0), waiting.join());
    }

    @Test
    void anOwnerThatHangsIsBoundedAndOthersContinue() {
        hang("hung");
        hang("hung");
        BackendUnavailable refused =
                assertThrows(BackendUnavailable.class, () -> calls.run("hung", "third", LONG, () -> "never"));
        assertTrue(refused.getMessage().startsWith("third: not started, because 2 "), refused::getMessage);
        assertEquals(2, calls.underWay());
        assertEquals(Optional.of("fine"), calls.run("other", "w", LONG, () -> "fine"));
    }

    @Test
    void onceAllPlacesAreTakenByCallsWhoseCallersHaveLeftNobodyWaits() {
        Stream.of("a", "a", "b", "b").forEach(this::hang);
        long began = System.nanoTime();
        assertThrows(BackendUnavailable.class, () -> calls.run("c", "w", LONG, () -> "never"));
        assertTrue(System.nanoTime() - began < LONG.toNanos() / 4);
    }

    @Test
    void aCallWaitsForAPlaceWhileTheOthersMayStillBeAnswered() throws IOException {
        try (DeadlineExecutor one = executor(1, 1)) {
            CompletableFuture<Optional<Integer>> first =
                    CompletableFuture.supplyAsync(() -> one.run("v", "first", LONG, this::read));
            awaitBlocked("first");
            CompletableFuture<Optional<String>> second =
                    CompletableFuture.supplyAsync(() -> one.run("v", "second", LONG, () -> "second"));
            assertThrows(BackendUnavailable.class, () -> one.run("v", "third", SHORT, () -> "never"));
            write();
            assertEquals(Optional.of(0), first.join());
            assertEquals(Optional.of("second"), second.join());
        }
    }

    @Test
    void aClosedOneTakesNoCallAndIsDrainedWhenTheLastHasReturned() throws IOException {
        hang("v");
        calls.close();
        assertEquals(Optional.empty(), calls.run("v", "w", LONG, () -> "never"));
        assertThrows(BackendUnavailable.class, () -> calls.check("v", "w", LONG, () -> "never"));
        assertFalse(calls.drained().isDone());
        write();
        calls.drained().join();
        assertEquals(0, calls.underWay());
        DeadlineExecutor idle = executor(1, 1);
        idle.close();
        assertTrue(idle.drained().isDone());
    }

    @Test
    void anInterruptedCallerLeavesAndStaysInterrupted() {
        Thread caller = Thread.currentThread();
        CompletableFuture<Void> interrupt = CompletableFuture.runAsync(() -> {
            awaitBlocked("w");
            caller.interrupt();
        });
        assertThrows(DeadlinePassed.class, () -> calls.run("v", "w", LONG, this::read));
        assertThrows(BackendUnavailable.class, () -> calls.run("v", "next", LONG, () -> "never"));
        assertTrue(Thread.interrupted());
        interrupt.join();
        assertEquals(1, calls.underWay());
    }

    @Test
    void checksOfOneSubjectShareOneCallAndKeepNoKey() throws IOException {
        AtomicInteger runs = new AtomicInteger();
        List<CompletableFuture<Integer>> checks = Stream.generate(() -> CompletableFuture.supplyAsync(
                        () -> calls.check("v", "mount 1", LONG, () -> {
                            runs.incrementAndGet();
                            return read();
                        }),
                        Thread::startVirtualThread))
                .limit(50)
                .toList();
        awaitBlocked("mount 1");
        assertThrows(DeadlinePassed.class, () -> keys.run("key", () -> calls.check("v", "mount 1", SHORT, this::read)));
        assertEquals(0, keys.inFlight());
        assertEquals(1, calls.underWay());
        write();
        checks.forEach(check -> assertEquals(0, check.join()));
        assertTrue(runs.get() <= 2, "one, and one more for whoever came after its end: " + runs);
    }

    @Test
    void aCheckAfterTheLastIsANewOne() {
        assertEquals(1, calls.check("v", "mount 1", LONG, () -> 1));
        assertEquals(2, calls.check("v", "mount 1", LONG, () -> 2));
    }

    @Test
    void progressMovesTheDeadlineOfSeveralThreads() throws IOException {
        AtomicInteger readers = new AtomicInteger();
        AtomicLong progress = new AtomicLong();
        calls.runOnEach(
                2,
                "w",
                SHORT,
                () -> {
                    long now = System.nanoTime();
                    // five times as long as a caller waits without progress
                    if (progress.accumulateAndGet(now, (first, last) -> first == 0 ? last : first)
                            < now - SHORT.toNanos() * 5) {
                        writeNow();
                    }
                    return now;
                },
                () -> readers.addAndGet(1 + read()));
        assertEquals(2, readers.get());
        assertEquals(0, calls.underWay());
        calls.runOnEach(0, "w", SHORT, System::nanoTime, this::read);
    }

    private void writeNow() {
        try {
            write();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void severalThreadsWithoutProgressAreLeft() {
        long began = System.nanoTime();
        assertThrows(DeadlinePassed.class, () -> calls.runOnEach(2, "w", SHORT, () -> began, this::read));
        assertEquals(2, calls.underWay());
        assertThrows(BackendUnavailable.class, () -> calls.runOnEach(2, "w", SHORT, System::nanoTime, () -> {}));
    }

    @Test
    void whatOneOfSeveralThreadsHasThrownIsToldAtTheDeadline() {
        AtomicInteger threads = new AtomicInteger();
        long began = System.nanoTime();
        // progress ends once one thread has failed and the other hangs
        LongSupplier progress = () -> blocked("w").size() == 1 && calls.underWay() == 1 ? began : System.nanoTime();
        assertThrows(
                DriverException.BackendFault.class,
                () -> calls.runOnEach(2, "w", SHORT, progress, () -> {
                    if (threads.incrementAndGet() == 1) {
                        throw new DriverException.BackendFault("chunk 1");
                    }
                    read();
                }));
        assertEquals(1, calls.underWay());
    }
}
