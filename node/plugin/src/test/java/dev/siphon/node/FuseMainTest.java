package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class FuseMainTest {
    @ParameterizedTest
    @CsvSource({
        "--process-memory=63Mi, '--process-memory: must be at least 64 MiB, not 63 MiB'",
        "--total-memory=1023Mi, '--total-memory: must be at least --process-memory, 1 GiB, not 1023 MiB'",
        "--total-memory=much, '--total-memory: \"much\" is not a size'",
        "--total-memory=50%, '--total-memory: \"50%\" is not a size'",
    })
    void memoryThatCannotBeIsRefused(String flag, String said) {
        StringWriter errors = new StringWriter();
        int exit = new CommandLine(new FuseMain())
                .setErr(new PrintWriter(errors))
                .execute("--endpoint=unix:///nowhere/fuse.sock", flag);
        assertEquals(CommandLine.ExitCode.USAGE, exit);
        assertTrue(errors.toString().contains(said), errors::toString);
    }
}
