package dev.siphon.controller.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.controller.identity.CachedAccountDirectory.LookupOutcome;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class CachedAccountDirectoryTest {
    private static final DirectoryCacheLimits LIMITS =
            new DirectoryCacheLimits(Duration.ofSeconds(60), Duration.ofHours(1), 3, Duration.ofSeconds(5));

    private final AtomicLong now = new AtomicLong();
    private final AtomicInteger asked = new AtomicInteger();
    private final ConcurrentLinkedQueue<LookupOutcome> outcomes = new ConcurrentLinkedQueue<>();
    private volatile Duration timeLeft = Duration.ofSeconds(30);
    private volatile Function<String, Optional<Account>> source = name -> Optional.of(account(name, "id"));
    private final CachedAccountDirectory directory = cached(LIMITS);

    private CachedAccountDirectory cached(DirectoryCacheLimits limits) {
        return new CachedAccountDirectory(
                new AccountDirectory() {
                    @Override
                    public Optional<Account> account(String name) {
                        asked.incrementAndGet();
                        return source.apply(name);
                    }

                    @Override
                    public void accounts(Consumer<Account> each) {
                        asked.incrementAndGet();
                    }
                },
                limits,
                () -> timeLeft,
                now::get,
                (outcome, _) -> outcomes.add(outcome));
    }

    private static Account account(String name, String id) {
        return new Account(name, id, 10_001, 10_001, Set.of(), OptionalLong.empty());
    }

    private static Optional<Account> silence() {
        throw new DriverException.BackendUnavailable("silent");
    }

    private void advance(Duration time) {
        now.addAndGet(time.toNanos());
    }

    @Test
    void aFreshAnswerIsNotAskedForAgain() {
        assertEquals("id", directory.account("u1").orElseThrow().id());
        advance(Duration.ofSeconds(59));
        assertEquals("id", directory.account("u1").orElseThrow().id());
        assertEquals(1, asked.get());
        assertEquals(List.of(LookupOutcome.FOUND, LookupOutcome.FRESH), List.copyOf(outcomes));
    }

    @Test
    void anOldAnswerIsAskedForAgain() {
        directory.account("u1");
        source = name -> Optional.of(account(name, "other"));
        advance(Duration.ofSeconds(60));
        assertEquals("other", directory.account("u1").orElseThrow().id());
        assertEquals(2, asked.get());
    }

    @Test
    void whoDoesNotExistIsAskedForEachTime() {
        source = _ -> Optional.empty();
        assertEquals(Optional.empty(), directory.account("u1"));
        source = name -> Optional.of(account(name, "new"));
        assertEquals("new", directory.account("u1").orElseThrow().id());
        assertEquals(List.of(LookupOutcome.ABSENT, LookupOutcome.FOUND), List.copyOf(outcomes));
    }

    @Test
    void whoWasRemovedIsForgotten() {
        directory.account("u1");
        advance(Duration.ofSeconds(61));
        source = _ -> Optional.empty();
        assertEquals(Optional.empty(), directory.account("u1"));
        source = _ -> silence();
        assertThrows(DriverException.BackendUnavailable.class, () -> directory.account("u1"));
    }

    @Test
    void whileItIsSilentWhatWasKnownIsUsedUpToALimit() {
        directory.account("u1");
        source = _ -> silence();
        advance(Duration.ofMinutes(59));
        assertEquals("id", directory.account("u1").orElseThrow().id());
        assertEquals(1, directory.usable());
        advance(Duration.ofMinutes(1));
        assertThrows(DriverException.BackendUnavailable.class, () -> directory.account("u1"));
        assertEquals(0, directory.usable());
        assertThrows(DriverException.BackendUnavailable.class, () -> directory.account("u2"));
        assertEquals(
                List.of(LookupOutcome.FOUND, LookupOutcome.STALE, LookupOutcome.UNAVAILABLE, LookupOutcome.UNAVAILABLE),
                List.copyOf(outcomes));
    }

    @Test
    void nobodyWaitsForADirectoryThatIsKnownToBeSilent() throws InterruptedException {
        directory.account("u1");
        advance(Duration.ofMinutes(2));
        directory.reachable(false);
        CountDownLatch asking = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        source = name -> {
            asking.countDown();
            awaitLatch(answer);
            return Optional.of(account(name, "late"));
        };
        assertEquals("id", directory.account("u1").orElseThrow().id());
        asking.await();
        assertEquals("id", directory.account("u1").orElseThrow().id());
        assertEquals(2, asked.get());
        answer.countDown();
    }

    @Test
    void anEarlierAnswerDoesNotStandAgainstARefusal() {
        directory.account("u1");
        advance(Duration.ofMinutes(2));
        source = _ -> {
            throw new DriverException.BackendFault("two of them");
        };
        assertThrows(DriverException.BackendFault.class, () -> directory.account("u1"));
        source = _ -> silence();
        assertThrows(DriverException.BackendUnavailable.class, () -> directory.account("u1"));
        assertEquals(LookupOutcome.REFUSED, List.copyOf(outcomes).get(1));
    }

    @Test
    void theSameQuestionIsPutOnceForAllWhoWait() throws Exception {
        CountDownLatch answer = new CountDownLatch(1);
        source = name -> {
            awaitLatch(answer);
            return Optional.of(account(name, "id"));
        };
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Optional<Account>>> waiting = java.util.stream.IntStream.range(0, 64)
                    .mapToObj(_ -> callers.submit(() -> directory.account("u1")))
                    .toList();
            while (asked.get() == 0) {
                Thread.onSpinWait();
            }
            answer.countDown();
            for (Future<Optional<Account>> each : waiting) {
                assertEquals("id", each.get().orElseThrow().id());
            }
        }
        assertEquals(1, asked.get());
    }

    @Test
    void aQuestionThatIsNeverAnsweredIsPutAgain() throws InterruptedException {
        CountDownLatch asking = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        source = name -> {
            asking.countDown();
            awaitLatch(answer);
            return Optional.of(account(name, "late"));
        };
        timeLeft = Duration.ofMillis(100);
        assertThrows(DriverException.BackendUnavailable.class, () -> directory.account("u1"));
        asking.await();
        timeLeft = Duration.ofSeconds(20);
        source = name -> Optional.of(account(name, "well"));
        advance(LIMITS.patience());
        assertEquals("well", directory.account("u1").orElseThrow().id());
        answer.countDown();
    }

    @Test
    void aSlowAnswerHoldsUpNobodyElse() {
        CountDownLatch never = new CountDownLatch(1);
        source = name -> {
            if (name.equals("slow")) {
                awaitLatch(never);
            }
            return Optional.of(account(name, "id"));
        };
        timeLeft = Duration.ofMillis(100);
        assertThrows(DriverException.BackendUnavailable.class, () -> directory.account("slow"));
        assertEquals("id", directory.account("u1").orElseThrow().id());
        never.countDown();
    }

    @Test
    void onlySoManyAreKept() {
        List.of("u1", "u2", "u3", "u1", "u4").forEach(directory::account);
        assertEquals(3, directory.usable());
        asked.set(0);
        directory.account("u1");
        assertEquals(0, asked.get());
        directory.account("u2");
        assertEquals(1, asked.get());
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
