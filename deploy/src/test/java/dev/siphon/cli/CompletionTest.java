package dev.siphon.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/// Lets a real bash complete with the script that `siphon generate-completion` prints.
final class CompletionTest {
    private static final int SECONDS = 30;

    /// Prints what the function offers for the words of the command line, of which the last is incomplete. A terminal
    /// has
    /// the builtin `compopt`, which changes only what follows a word.
    private static final String COMPLETE =
            "compopt() { :; }; source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); "
                    + "_complete_siphon; printf '%s\\n' \"${COMPREPLY[@]}\"";

    @TempDir
    Path directory;

    private static String printed(String... args) {
        StringWriter out = new StringWriter();
        CommandLine siphon = SiphonMain.commandLine(List.of(args)).setOut(new PrintWriter(out, true));
        assertEquals(0, siphon.execute(args));
        return out.toString();
    }

    private List<String> completed(String words) throws IOException, InterruptedException {
        Path script = Files.writeString(directory.resolve("siphon"), printed("generate-completion"));
        Path offered = directory.resolve("offered");
        ProcessBuilder bash = new ProcessBuilder("bash", "-c", COMPLETE, "bash", script.toString())
                .redirectErrorStream(true)
                .redirectOutput(offered.toFile());
        bash.command().addAll(List.of(words.split(" ", -1)));
        Process process = bash.start();
        assertTrue(process.waitFor(SECONDS, TimeUnit.SECONDS));
        String said = Files.readString(offered, StandardCharsets.UTF_8);
        assertEquals(0, process.exitValue(), said);
        return said.lines().map(String::strip).toList();
    }

    @ParameterizedTest
    @CsvSource({
        "siphon da, dataset",
        "siphon dataset im, import",
        "siphon check c, controller",
        "siphon dataset import --str, --strip-components",
        "siphon user off, offboard"
    })
    void bashCompletesCommandsAndOptions(String words, String word) throws IOException, InterruptedException {
        assertEquals(List.of(word), completed(words));
    }

    @Test
    void theHelpListsOnlyCommandsForPeople() {
        assertFalse(printed("--help").contains("generate-completion"));
    }
}
