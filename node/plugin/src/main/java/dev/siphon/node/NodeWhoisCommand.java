package dev.siphon.node;

import dev.siphon.csi.report.PrintOptions;
import dev.siphon.csi.report.Table;
import dev.siphon.csi.report.Table.Cell;
import dev.siphon.node.linux.MountTable;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `siphon whois X` of a loop device or a path of this node. Reads the mount table and sysfs alone, so a hung file
/// system does not hold it up. The launcher chooses it by the form of X.
@Command(
        name = "whois",
        description = {
            "Says what a loop device, a mount point or a file of this node shows, and to which pods.",
            "X is /dev/loopN or an absolute path. Prints what to ask in a controller's pod for account and claim."
        })
public final class NodeWhoisCommand implements Callable<Integer> {
    /// Wide enough for each kind of fact, with two spaces behind it.
    private static final int WIDTH = 12;

    private static final Path BLOCK_DEVICES = Path.of("/sys/block");

    @Spec
    private CommandSpec command = CommandSpec.create();

    @Mixin
    private PrintOptions printing = new PrintOptions();

    @Parameters(paramLabel = "X", description = "A loop device, or a path of this node.")
    private String clue = "";

    @Override
    public Integer call() {
        List<MountedClue.Fact> facts = new MountedClue(MountTable.read(), NodeWhoisCommand::backingFile).of(clue);
        if (printing.printsJson()) {
            Table table = new Table("thing", "what", "value");
            facts.forEach(
                    fact -> table.row(new Cell.Count(1), new Cell.Text(fact.what()), new Cell.Text(fact.value())));
            printing.print(command, table);
            return ExitCode.OK;
        }
        PrintWriter out = command.commandLine().getOut();
        facts.forEach(fact -> out.println(
                fact.what() + " ".repeat(Math.max(1, WIDTH - fact.what().length())) + fact.value()));
        out.flush();
        return ExitCode.OK;
    }

    /// Returns the file behind a loop device (`drivers/block/loop.c`); empty if it has none.
    private static Optional<String> backingFile(String device) {
        try {
            return Optional.of(Files.readString(BLOCK_DEVICES.resolve(device).resolve("loop/backing_file"))
                    .strip());
        } catch (IOException none) {
            return Optional.empty();
        }
    }
}
