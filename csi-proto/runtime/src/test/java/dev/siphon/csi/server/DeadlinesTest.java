package dev.siphon.csi.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Context;
import io.grpc.Deadline;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class DeadlinesTest {
    private final Deadlines deadlines = new Deadlines(Duration.ofSeconds(60));
    private final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();
    private final AtomicLong nanos = new AtomicLong();
    private final Deadline.Ticker ticker = new Deadline.Ticker() {
        @Override
        public long nanoTime() {
            return nanos.get();
        }
    };

    @AfterEach
    void stop() {
        scheduler.shutdownNow();
    }

    @Test
    void withoutADeadlineTheConfiguredTimeHolds() {
        assertEquals(Duration.ofSeconds(60), deadlines.remaining());
        assertFalse(Deadlines.callerGone());
    }

    @Test
    void theAnswerIsLeftTimeToTravel() {
        assertEquals(Duration.ofMillis(9_800), remainingOf(Duration.ofSeconds(10)));
    }

    @Test
    void aShortDeadlineLosesOnlyATenth() {
        assertEquals(Duration.ofMillis(900), remainingOf(Duration.ofSeconds(1)));
    }

    @Test
    void aPassedDeadlineLeavesNothing() {
        try (Context.CancellableContext context = contextOf(Duration.ofSeconds(1))) {
            nanos.addAndGet(Duration.ofSeconds(5).toNanos());
            context.run(() -> assertEquals(Duration.ZERO, deadlines.remaining()));
        }
    }

    @Test
    void aCallerThatHasGoneIsSeen() {
        try (Context.CancellableContext context = contextOf(Duration.ofSeconds(10))) {
            context.run(() -> assertFalse(Deadlines.callerGone()));
            context.cancel(new IllegalStateException("the caller has gone"));
            context.run(() -> assertTrue(Deadlines.callerGone()));
        }
    }

    @Test
    void noTimeAtAllIsNoDefault() {
        assertThrows(IllegalArgumentException.class, () -> new Deadlines(Duration.ZERO));
    }

    private Duration remainingOf(Duration deadline) {
        Duration[] remaining = {Duration.ZERO};
        try (Context.CancellableContext context = contextOf(deadline)) {
            context.run(() -> remaining[0] = deadlines.remaining());
        }
        return remaining[0];
    }

    private Context.CancellableContext contextOf(Duration deadline) {
        return Context.ROOT.withDeadline(Deadline.after(deadline.toNanos(), TimeUnit.NANOSECONDS, ticker), scheduler);
    }
}
