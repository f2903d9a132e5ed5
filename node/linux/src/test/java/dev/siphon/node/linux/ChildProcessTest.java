package dev.siphon.node.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildProcessTest {
    private static final Duration LONG = Duration.ofSeconds(20);

    private static ChildProcess.StartOutcome untilItEnds(String... command) {
        return ChildProcess.start(List.of(command), LONG, () -> false);
    }

    @Test
    void whatAProgramSaysThatEndsIsTold() {
        ChildProcess.StartOutcome outcome = untilItEnds("sh", "-c", "echo out; echo err >&2; exit 3");
        assertTrue(outcome.inTime());
        assertFalse(outcome.serving());
        assertEquals("out\nerr\n", outcome.output());
    }

    @Test
    void argumentsAreNoShellText() {
        assertEquals("a b;$(id)\n", untilItEnds("echo", "a b;$(id)").output());
    }

    @Test
    void theEnvironmentIsThePathAlone() {
        List<String> names = untilItEnds("env")
                .output()
                .lines()
                .map(line -> line.substring(0, line.indexOf('=')))
                .toList();
        assertEquals(List.of("PATH"), names);
    }

    @Test
    void aProgramThatTalksALotDoesNotBlock() {
        ChildProcess.StartOutcome outcome = untilItEnds("sh", "-c", "yes | head -c 10000000");
        assertTrue(outcome.inTime());
        assertEquals(8 << 10, outcome.output().length());
    }

    @Test
    void atTheDeadlineItEndsWithAllThatItStarted() {
        long start = System.nanoTime();
        ChildProcess.StartOutcome outcome = ChildProcess.start(
                List.of("sh", "-c", "echo begun; sleep 1000 & wait"), Duration.ofSeconds(3), () -> false);
        assertFalse(outcome.inTime());
        assertEquals("begun\n", outcome.output());
        assertTrue(Duration.ofNanos(System.nanoTime() - start).toSeconds() < 10);
    }

    /// The server keeps its own descriptors and session until it ends. Nobody reads its later output.
    @Test
    void oneThatServesGoesOnInASessionOfItsOwn(@TempDir Path folder) throws IOException {
        Path ready = folder.resolve("ready");
        Path end = folder.resolve("end");
        Path done = folder.resolve("done");
        String program = "echo first; echo $$ > \"$1\".part; mv \"$1\".part \"$1\"; until [ -e \"$2\" ]; do :; done; "
                + "echo second 2>/dev/null; readlink /proc/$$/fd/2 > \"$3\".part; mv \"$3\".part \"$3\"";

        ChildProcess.StartOutcome outcome = ChildProcess.start(
                List.of("sh", "-c", program, "sh", ready.toString(), end.toString(), done.toString()),
                LONG,
                () -> Files.exists(ready));

        assertTrue(outcome.serving());
        assertEquals("first\n", outcome.output());
        String pid = Files.readString(ready).strip();
        String stat = Files.readString(Path.of("/proc", pid, "stat"));
        String session = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[3];
        assertEquals(pid, session);
        Files.createFile(end);
        long limit = System.nanoTime() + LONG.toNanos();
        while (!Files.exists(done)) {
            assertTrue(System.nanoTime() < limit, "it did not go on");
            Thread.onSpinWait();
        }
        assertTrue(Files.readString(done).startsWith("/memfd:output"), Files.readString(done));
    }

    @Test
    void aProgramThatDoesNotExistIsNamed() {
        ChildProcess.StartOutcome outcome = untilItEnds("/no/such/program");
        assertFalse(outcome.serving());
        assertTrue(outcome.output().contains("/no/such/program"), outcome.output());
    }
}
