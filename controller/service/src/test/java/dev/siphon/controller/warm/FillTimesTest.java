package dev.siphon.controller.warm;

import static dev.siphon.controller.warm.WarmWorld.NOW;
import static dev.siphon.controller.warm.WarmWorld.filling;
import static dev.siphon.controller.warm.WarmWorld.local;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// How long a fill takes, from how fast it has been.
final class FillTimesTest {
    private final FillTimes times = new FillTimes();

    private Optional<Duration> left(int seconds, OrderedReplica replica) {
        times.seen(List.of(replica), NOW.plusSeconds(seconds));
        return times.left(replica, NOW.plusSeconds(seconds));
    }

    @Test
    void theRestTakesAsLongAsItsShareDid() {
        assertEquals(Optional.empty(), left(0, filling("a", 20)));
        assertEquals(Optional.empty(), left(1, filling("a", 30)), "a rate over one second says nothing");
        assertEquals(16, left(10, filling("a", 50)).orElseThrow().toSeconds());
        assertEquals(Optional.of(Duration.ZERO), left(11, local("a")));
    }

    @Test
    void aFillThatBeginsAgainIsMeasuredAgain() {
        assertEquals(Optional.empty(), left(0, filling("a", 90)));
        assertEquals(Optional.empty(), left(10, filling("a", 10)));
        assertEquals(Optional.of(Duration.ofSeconds(35)), left(20, filling("a", 30)));
    }

    @Test
    void aReplicaThatWentIsForgotten() {
        assertEquals(Optional.empty(), left(0, filling("a", 20)));
        times.seen(List.of(), NOW.plusSeconds(5));
        assertEquals(Optional.empty(), left(10, filling("a", 60)));
    }
}
