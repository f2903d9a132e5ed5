package dev.siphon.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.server.BuildInfo;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

final class SiphonMainTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void theVersionNamesTheCommit() {
        assertEquals(0, run("--version"));
        assertEquals("siphon " + BuildInfo.read(), out.toString().strip());
    }

    @Test
    void everySubcommandIsOffered() {
        assertEquals(
                Set.of(
                        "audit",
                        "cache",
                        "ceph-caps",
                        "check",
                        "controller",
                        "csi",
                        "dataset",
                        "fuse",
                        "generate-completion",
                        "home",
                        "key",
                        "node",
                        "recover",
                        "topology",
                        "user",
                        "whois",
                        "why"),
                SiphonMain.commandLine(List.of("--help")).getSubcommands().keySet());
    }

    @Test
    void aProcessLoadsNoOtherSubcommand() {
        assertEquals(
                Set.of("node"),
                SiphonMain.commandLine(List.of("node", "--node-id=x"))
                        .getSubcommands()
                        .keySet());
    }

    @Test
    void eachSideIsCheckedWithItsOwnFlags() {
        assertEquals(2, run("check"));
        assertTrue(err.toString().contains("controller or node"), err.toString());
        assertEquals(0, run("check", "controller", "--help"));
        assertTrue(out.toString().contains("--directory-config"), out.toString());
        assertEquals(0, run("check", "node", "--help"));
        assertTrue(out.toString().contains("--kubelet-registration-dir"), out.toString());
    }

    @Test
    void wrongUsageIsExitTwoAndSaysWhatThereIs() {
        assertEquals(2, run());
        assertTrue(err.toString().contains("a subcommand is missing"), err.toString());
        assertEquals(2, run("no-such-thing"));
        assertTrue(err.toString().contains("controller"), err.toString());
    }

    @Test
    void everyProblemOfAProcessIsToldAtOnce() {
        assertEquals(2, run("node", "--node-id=x", "--endpoint=tcp://x", "--driver-name=a_b"));
        assertTrue(err.toString().contains("--endpoint: "), err.toString());
        assertTrue(err.toString().contains("--driver-name: "), err.toString());
    }

    @Test
    void whatIsWrongIsNotLostAmongAllFlags() {
        assertEquals(2, run("check", "node", "--node-id=x", "--endpoint=tcp://x"));
        assertEquals(2, err.toString().lines().count(), err.toString());
        assertTrue(err.toString().endsWith("see siphon check node --help\n"), err.toString());
    }

    @Test
    void everySubcommandIsSummedUpInWholeSentences() {
        List<CommandLine> all =
                subcommands(SiphonMain.commandLine(List.of("--help"))).toList();
        assertTrue(all.size() > 9, all.toString());
        for (CommandLine each : all) {
            // what a list of subcommands shows
            String summary = each.getCommandSpec().usageMessage().description()[0];
            assertTrue(summary.endsWith("."), summary);
        }
    }

    /// A process sees only its own jars; the launcher chooses which.
    @Test
    void eachCommandSeesTheJarsOfItsModule() throws IOException {
        assertEquals(commandsOf("dev.siphon.controller.admin."), launchedAs("admin"));
        assertEquals(Set.of("dataset"), launchedAs("packer"));
        CommandLine dataset = subcommands(SiphonMain.commandLine(List.of("dataset")))
                .findFirst()
                .orElseThrow();
        assertEquals(dataset.getSubcommands().keySet(), commandsOf(dataset, "dev.siphon.node.packer."));
    }

    private static Set<String> launchedAs(String part) throws IOException {
        Matcher listed = Pattern.compile("(?m)^  ([a-z |-]+)\\) part='?" + part + "'? ;;$")
                .matcher(Files.readString(Path.of("src/build/siphon")));
        assertTrue(listed.find());
        return Set.of(listed.group(1).split(" [|] ", -1));
    }

    private static Set<String> commandsOf(String packages) {
        return commandsOf(SiphonMain.commandLine(List.of("--help")), packages);
    }

    private static Set<String> commandsOf(CommandLine parent, String packages) {
        return parent.getSubcommands().entrySet().stream()
                .filter(each -> each.getValue()
                        .getCommandSpec()
                        .userObject()
                        .getClass()
                        .getName()
                        .startsWith(packages))
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    private static Stream<CommandLine> subcommands(CommandLine of) {
        return of.getSubcommands().values().stream().flatMap(each -> Stream.concat(Stream.of(each), subcommands(each)));
    }

    private int run(String... args) {
        CommandLine commandLine = SiphonMain.commandLine(List.of(args))
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true));
        return commandLine.execute(args);
    }
}
