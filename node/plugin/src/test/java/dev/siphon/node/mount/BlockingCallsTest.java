package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What `DeadlineExecutorTest` shows of the calls themselves is not repeated here.
@Timeout(30)
final class BlockingCallsTest {
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final Duration LONG = Duration.ofSeconds(20);

    @Test
    void aVolumeMayHaveFourHungCallsAndOthersGoOn() {
        try (BlockingCalls calls = new BlockingCalls()) {
            CompletableFuture<String> answer = new CompletableFuture<>();
            for (int hung = 0; hung < 2; hung++) {
                String mount = "mount " + hung;
                assertThrows(DriverException.DeadlinePassed.class, () -> calls.change("volume", SHORT, answer::join));
                assertThrows(
                        DriverException.DeadlinePassed.class, () -> calls.check("volume", mount, SHORT, answer::join));
            }
            assertEquals(4, calls.underWay());
            String refused = String.valueOf(assertThrows(
                            DriverException.BackendUnavailable.class, () -> calls.change("volume", LONG, () -> "never"))
                    .getMessage());
            assertTrue(refused.contains("file system of volume") && refused.contains("4 earlier calls"), refused);
            assertThrows(
                    DriverException.BackendUnavailable.class,
                    () -> calls.check("volume", "volume", LONG, () -> "never"));
            assertEquals("fine", calls.change("other", LONG, () -> "fine"));
            answer.complete("late");
        }
    }
}
