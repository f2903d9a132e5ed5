package dev.siphon.controller.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class PerObjectRetriesTest {
    private final AtomicLong now = new AtomicLong();
    private final PerObjectRetries attempts = new PerObjectRetries(now::get);

    /// Of all objects.
    private final AtomicInteger version = new AtomicInteger();

    private final List<String> done = new CopyOnWriteArrayList<>();
    private final List<String> refused = new CopyOnWriteArrayList<>();

    private static final String UNCHANGED = "unchanged";

    /// How long each attempt takes.
    private Duration slowly = Duration.ZERO;

    /// @param silent names of objects that get no reply
    private Optional<DriverException.BackendUnavailable> take(List<String> names, Set<String> silent) {
        done.clear();
        return attempts.take(names.stream()
                .map(name -> new PerObjectRetries.Step(
                        name,
                        name.equals(UNCHANGED) ? 0L : version.get(),
                        () -> {
                            done.add(name);
                            pass(slowly);
                            if (silent.contains(name)) {
                                throw new DriverException.BackendUnavailable(name);
                            }
                            if (name.startsWith("no")) {
                                throw new DriverException.AccessDenied(name);
                            }
                        },
                        why -> refused.add(why.getMessage())))
                .toList());
    }

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
    }

    @Test
    void oneThatGetsNoAnswerKeepsNoOther() {
        assertEquals(
                Optional.of("a"),
                take(List.of("a", "b", "no", "c"), Set.of("a", "c")).map(Throwable::getMessage));
        assertEquals(Set.of("a", "b", "no", "c"), Set.copyOf(done));
        assertEquals(List.of("no"), refused);
        pass(PerObjectRetries.FIRST_DELAY);
        assertTrue(take(List.of("a", "b", "c"), Set.of()).isEmpty());
        assertEquals(Set.of("a", "b", "c"), Set.copyOf(done));
    }

    /// Its reason is logged each time.
    @Test
    void oneThatIsRefusedWaitsLongerEachTime() {
        List<String> both = List.of(UNCHANGED, "no");
        List<Integer> seconds = IntStream.range(0, 60)
                .filter(_ -> {
                    var _ = take(both, Set.of());
                    pass(Duration.ofSeconds(1));
                    return done.contains("no");
                })
                .boxed()
                .toList();
        assertEquals(List.of(0, 1, 2, 4, 8, 16, 31, 46), seconds);
        version.incrementAndGet();
        var _ = take(both, Set.of());
        assertEquals(Set.copyOf(both), Set.copyOf(done));
    }

    /// Objects without a reply the last time come last.
    @Test
    void oneThatGotNoAnswerComesLast() {
        List<String> all = IntStream.range(0, 2 * PerObjectRetries.AT_ONCE)
                .mapToObj(index -> "n" + index)
                .toList();
        Set<String> silent = Set.of("n0", "n1");
        assertTrue(take(all, silent).isPresent());
        pass(PerObjectRetries.FIRST_DELAY);
        assertTrue(take(all, silent).isPresent());
        assertEquals(all.size(), done.size());
        assertTrue(done.subList(all.size() - 2, done.size()).containsAll(silent), done::toString);
    }

    /// Forty pods at the size limit of etcd delayed others by seconds, when each pass tried them.
    @Test
    void oneThatGetsNoAnswerIsTriedEverMoreSeldom() {
        List<Long> tried = new ArrayList<>();
        for (int half = 0; half < 130; half++) {
            assertEquals(
                    Optional.of("bad"),
                    take(List.of("good", "bad"), Set.of("bad")).map(Throwable::getMessage));
            assertTrue(done.contains("good"), "others are tried in each pass");
            if (done.contains("bad")) {
                tried.add(TimeUnit.NANOSECONDS.toMillis(now.get()));
            }
            pass(PerObjectRetries.FIRST_DELAY);
        }
        assertEquals(List.of(0L, 500L, 1_500L, 3_500L, 7_500L, 15_500L, 30_500L, 45_500L, 60_500L), tried);
    }

    @Test
    void oneThatHasChangedIsTriedAtOnce() {
        assertTrue(take(List.of("bad"), Set.of("bad")).isPresent());
        assertTrue(take(List.of("bad"), Set.of("bad")).isPresent());
        assertEquals(List.of(), done);
        version.incrementAndGet();
        assertTrue(take(List.of("bad"), Set.of()).isEmpty());
        assertEquals(List.of("bad"), done);
    }

    @Test
    void objectsThatChangeOftenStarveNoOther() {
        List<String> bad = IntStream.range(0, PerObjectRetries.AT_ONCE)
                .mapToObj(index -> "bad-" + index)
                .toList();
        List<String> all = Stream.concat(Stream.of(UNCHANGED), bad.stream()).toList();
        assertTrue(take(all, Set.copyOf(all)).isPresent());
        version.incrementAndGet();
        pass(PerObjectRetries.LONGEST_DELAY);
        assertTrue(take(all, Set.copyOf(bad)).isPresent());
        assertTrue(done.contains(UNCHANGED), done::toString);
    }

    /// However many fail, a pass that retries some is followed by passes that retry none.
    @Test
    void retriesThatFailTakeAFifthOfTheTime() {
        List<String> all =
                IntStream.range(0, 15).mapToObj(index -> "bad-" + index).toList();
        Set<String> slow = Set.copyOf(all);
        assertTrue(take(all, slow).isPresent());
        pass(PerObjectRetries.LONGEST_DELAY);
        slowly = Duration.ofMillis(100);
        assertTrue(take(all, slow).isPresent());
        assertEquals(PerObjectRetries.AT_ONCE, done.size());
        pass(Duration.ofSeconds(3));
        assertTrue(take(all, slow).isPresent());
        assertEquals(List.of(), done);
        pass(PerObjectRetries.LONGEST_DELAY);
        assertTrue(take(all, slow).isPresent());
        assertEquals(PerObjectRetries.AT_ONCE, done.size());
        assertTrue(done.containsAll(all.subList(10, 15)), "the oldest attempt first");
    }

    /// When the API server is back, one success is enough.
    @Test
    void whereARetrySucceedsTheOthersAreTriedAtOnce() {
        List<String> all = IntStream.range(0, 15).mapToObj(index -> "n" + index).toList();
        Set<String> silent = Set.copyOf(all);
        assertTrue(take(all.subList(0, 1), silent).isPresent());
        pass(PerObjectRetries.FIRST_DELAY);
        for (int pass = 0; pass < 3; pass++) {
            assertTrue(take(all, silent).isPresent());
            pass(PerObjectRetries.FIRST_DELAY);
        }
        pass(PerObjectRetries.FIRST_DELAY);
        assertTrue(take(all, Set.of()).isEmpty());
    }

    @Test
    void stepsOfOtherObjectsAreTakenAtTheSameTime() {
        CountDownLatch together = new CountDownLatch(PerObjectRetries.AT_ONCE);
        assertTrue(attempts.take(IntStream.range(0, PerObjectRetries.AT_ONCE)
                        .mapToObj(index -> new PerObjectRetries.Step(
                                "n" + index, 0, () -> meet(together), why -> refused.add(why.getMessage())))
                        .toList())
                .isEmpty());
        assertEquals(List.of(), refused);
    }

    private static void meet(CountDownLatch together) {
        together.countDown();
        try {
            if (!together.await(20, TimeUnit.SECONDS)) {
                throw new DriverException.BackendFault("one after the other");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Objects that never get a reply do not starve the others.
    @Test
    void whereNobodyIsAnsweredOthersAreAskedInTheNextLook() {
        List<String> bad =
                IntStream.range(0, 50).mapToObj(index -> "bad-" + index).toList();
        List<String> all = new ArrayList<>(bad);
        all.add("good");
        assertTrue(take(all, Set.copyOf(bad)).isPresent());
        assertEquals(Set.copyOf(bad.subList(0, PerObjectRetries.MOST_IN_A_ROW)), Set.copyOf(done));
        assertTrue(take(all, Set.copyOf(bad)).isPresent());
        assertEquals(Set.copyOf(bad.subList(20, 40)), Set.copyOf(done));
        assertTrue(take(all, Set.copyOf(bad)).isPresent());
        assertTrue(done.contains("good"));
        assertTrue(take(all, Set.copyOf(all)).isPresent());
        assertEquals(List.of("good"), done);
    }
}
