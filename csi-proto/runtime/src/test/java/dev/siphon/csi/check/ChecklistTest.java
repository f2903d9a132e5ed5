package dev.siphon.csi.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class ChecklistTest {
    private final Checklist list = new Checklist(Duration.ofSeconds(1));

    private Optional<String> look(java.util.function.Supplier<String> question) {
        return list.check("thing", why -> "mend " + why.getMessage(), question, CheckOutcome.Ok::new);
    }

    @Test
    void aLineForEachThingWithItsRemedy() {
        assertEquals(Optional.of("is there"), look(() -> "is there"));
        list.note("another", new CheckOutcome.Failed("is\nbroken", "mend it"));
        list.note("a fourth", new CheckOutcome.Warned("is slow", "get another"));
        list.note("a third", new CheckOutcome.Skipped("there is none"));
        assertEquals(
                List.of(
                        "CHECK     RESULT   FOUND                  REMEDY",
                        "thing     ok       is there",
                        "another   failed   is broken              mend it",
                        "a fourth  warning  is slow                get another",
                        "a third   skipped  because there is none"),
                list.table().text());
        assertEquals(
                "{\"check\":\"another\",\"result\":\"failed\",\"found\":\"is broken\",\"remedy\":\"mend it\"}",
                list.table().json().get(1));
    }

    @Test
    void whatIsSkippedOrOnlyWarnedOfIsNoFailure() {
        assertEquals(0, list.exit());
        list.note("a", new CheckOutcome.Ok("x"));
        list.note("b", new CheckOutcome.Skipped("y"));
        list.note("d", new CheckOutcome.Warned("w", "do"));
        assertEquals(0, list.exit());
        list.note("c", new CheckOutcome.Failed("z", "do"));
        assertEquals(1, list.exit());
    }

    @Test
    void whatIsRefusedHasFailedAndTheReasonChoosesTheRemedy() {
        assertEquals(Optional.empty(), look(() -> {
            throw new DriverException.AccessDenied("it");
        }));
        assertEquals("thing  failed  it     mend it", list.table().text().getLast());
    }

    @Test
    void whoeverHangsIsNotWaitedFor() {
        CountDownLatch never = new CountDownLatch(1);
        long begin = System.nanoTime();
        assertEquals(Optional.empty(), look(() -> {
            try {
                never.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return "";
        }));
        never.countDown();
        assertTrue(Duration.ofNanos(System.nanoTime() - begin).compareTo(Duration.ofSeconds(20)) < 0);
        assertTrue(list.table().text().getLast().contains("gave no answer within 2000 ms"), list.table()::toString);
    }

    @Test
    void aBugIsNoFinding() {
        assertThrows(
                IllegalArgumentException.class,
                () -> look(() -> {
                    throw new IllegalArgumentException("bug");
                }));
    }
}
