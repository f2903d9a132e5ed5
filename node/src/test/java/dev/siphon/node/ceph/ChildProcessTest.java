package dev.siphon.node.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChildProcessTest {
    private static final Duration LONG = Duration.ofSeconds(20);

    @Test
    void codeAndOutputAreTold() {
        ChildProcess.Outcome outcome = ChildProcess.run(List.of("sh", "-c", "echo out; echo err >&2; exit 3"), LONG);
        assertTrue(outcome.inTime());
        assertFalse(outcome.succeeded());
        assertEquals(3, outcome.code());
        assertEquals("out\nerr\n", outcome.output());
    }

    @Test
    void argumentsAreNoShellText() {
        assertEquals(
                "a b;$(id)\n",
                ChildProcess.run(List.of("echo", "a b;$(id)"), LONG).output());
    }

    @Test
    void theEnvironmentIsThePathAlone() {
        List<String> names = ChildProcess.run(List.of("env"), LONG)
                .output()
                .lines()
                .map(line -> line.substring(0, line.indexOf('=')))
                .toList();
        assertEquals(List.of("PATH"), names);
    }

    @Test
    void aProgramThatTalksALotDoesNotBlock() {
        ChildProcess.Outcome outcome = ChildProcess.run(List.of("sh", "-c", "yes | head -c 10000000"), LONG);
        assertTrue(outcome.succeeded());
        assertEquals(8 << 10, outcome.output().length());
    }

    @Test
    void atTheDeadlineItEndsWithAllThatItStarted() {
        long start = System.nanoTime();
        ChildProcess.Outcome outcome =
                ChildProcess.run(List.of("sh", "-c", "echo begun; sleep 1000 & wait"), Duration.ofSeconds(3));
        assertFalse(outcome.inTime());
        assertEquals("begun\n", outcome.output());
        assertTrue(Duration.ofNanos(System.nanoTime() - start).toSeconds() < 10);
    }

    @Test
    void aProgramThatDoesNotExistIsAnError() {
        assertThrows(UncheckedIOException.class, () -> ChildProcess.run(List.of("/no/such/program"), LONG));
    }
}
