package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class CapabilityProbeTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private final CapabilityProbe probe = new CapabilityProbe("get note");
    private final AtomicInteger after = new AtomicInteger();

    @Test
    void anAnswerEndsIt() {
        probe.run(() -> {}, after::incrementAndGet);
        assertTrue(probe.endsWithin(LONG));
        probe.orThrow();
        assertEquals(1, after.get());
    }

    /// A frozen account would count as not frozen.
    @Test
    void anErrorIsNoAnswer() {
        LinkageError error = new LinkageError("no such symbol");
        probe.run(
                () -> {
                    throw error;
                },
                after::incrementAndGet);
        assertTrue(probe.endsWithin(LONG));
        IllegalStateException thrown = assertThrows(IllegalStateException.class, probe::orThrow);
        assertEquals(error, thrown.getCause());
        assertEquals(1, after.get());
    }
}
