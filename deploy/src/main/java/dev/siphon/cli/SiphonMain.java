package dev.siphon.cli;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.server.BuildInfo;
import dev.siphon.csi.server.ImmediateExit;
import dev.siphon.csi.server.StartFailure;
import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Model.CommandSpec;

/// The command `siphon`. Exits 0 on success, 1 on failure, 2 on wrong usage.
@Command(
        name = "siphon",
        description = "A CSI driver for CephFS.",
        mixinStandardHelpOptions = true,
        scope = CommandLine.ScopeType.INHERIT,
        versionProvider = SiphonMain.Version.class)
public final class SiphonMain implements Runnable {
    /// The subcommands by class name. The code links none of them: a node's classpath lacks the controller and vice
    /// versa, and a process should not load the classes of the others.
    private static final List<Subcommand> SUBCOMMANDS = List.of(
            Subcommand.serving("controller", "dev.siphon.controller.ControllerMain"),
            Subcommand.serving("node", "dev.siphon.node.NodeMain"),
            Subcommand.serving("fuse", "dev.siphon.node.FuseMain"),
            Subcommand.of("csi", "dev.siphon.cli.CsiCommand"),
            Subcommand.of("cache", "dev.siphon.cli.CacheCommand"),
            Subcommand.of(
                    "check",
                    "dev.siphon.cli.CheckCommand",
                    Subcommand.of("controller", "dev.siphon.controller.admin.CheckControllerCommand"),
                    Subcommand.of("kernel", "dev.siphon.node.CheckKernelCommand"),
                    Subcommand.of("node", "dev.siphon.node.CheckNodeCommand")),
            Subcommand.of(
                    "dataset",
                    "dev.siphon.cli.DatasetCommand",
                    Subcommand.of("check", "dev.siphon.node.packer.CheckImageCommand"),
                    Subcommand.of("fetch", "dev.siphon.node.packer.FetchCommand"),
                    Subcommand.of("import", "dev.siphon.node.packer.ImportCommand"),
                    Subcommand.of("pack", "dev.siphon.node.packer.PackCommand"),
                    Subcommand.of("seal", "dev.siphon.node.packer.SealCommand")),
            Subcommand.of("topology", "dev.siphon.node.TopologyCommand"),
            Subcommand.of("home", "dev.siphon.controller.admin.HomeCommand"),
            Subcommand.of("ceph-caps", "dev.siphon.controller.admin.CephCapsCommand"),
            Subcommand.of("user", "dev.siphon.controller.admin.UserCommand"),
            Subcommand.of("audit", "dev.siphon.controller.admin.AuditCommand"),
            Subcommand.of("recover", "dev.siphon.controller.admin.RecoverCommand"),
            // on a node another class answers; of both, the first that is on the classpath counts
            Subcommand.of("whois", "dev.siphon.controller.admin.WhoisCommand"),
            Subcommand.of("whois", "dev.siphon.node.NodeWhoisCommand"),
            Subcommand.of("why", "dev.siphon.controller.admin.WhyCommand"),
            Subcommand.of("key", "dev.siphon.controller.admin.KeyCommand"));

    /// @param serves whether it runs until a signal ends it
    /// @param parts its own subcommands that `type` does not link either
    private record Subcommand(String name, String type, boolean serves, List<Subcommand> parts) {
        static Subcommand serving(String name, String type) {
            return new Subcommand(name, type, true, List.of());
        }

        static Subcommand of(String name, String type, Subcommand... parts) {
            return new Subcommand(name, type, false, List.of(parts));
        }
    }

    @CommandLine.Spec
    private @Nullable CommandSpec spec;

    /// Prints the version and the build.
    public static final class Version implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"siphon " + BuildInfo.read()};
        }
    }

    /// Runs the command line and exits.
    public static void main(String[] args) {
        CommandLine commandLine = commandLine(List.of(args));
        int code = commandLine.execute(args);
        if (SUBCOMMANDS.stream()
                .anyMatch(
                        each -> each.serves() && args.length > 0 && each.name().equals(args[0]))) {
            System.exit(code);
        }
        commandLine.getOut().flush();
        commandLine.getErr().flush();
        ImmediateExit.with(code);
    }

    /// Returns the command with the subcommand that `args` name, or with all on this classpath.
    static CommandLine commandLine(List<String> args) {
        CommandLine commandLine = new CommandLine(new SiphonMain());
        List<Subcommand> named = SUBCOMMANDS.stream()
                .filter(each -> !args.isEmpty() && args.getFirst().equals(each.name()))
                .toList();
        for (Subcommand each : named.isEmpty() ? SUBCOMMANDS : named) {
            add(commandLine, each);
        }
        if (named.isEmpty()) {
            addCompletion(commandLine);
        }
        return commandLine
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(SiphonMain::misused)
                .setExecutionExceptionHandler(failures());
    }

    private static void add(CommandLine parent, Subcommand each) {
        if (parent.getSubcommands().containsKey(each.name())) {
            return;
        }
        find(each.type()).ifPresent(found -> {
            CommandLine command = new CommandLine(found);
            each.parts().forEach(part -> add(command, part));
            parent.addSubcommand(each.name(), command);
        });
    }

    /// Adds `generate-completion`, which prints a script for bash and zsh with the subcommands that are there. Shells
    /// call it, so the help does not list it.
    private static void addCompletion(CommandLine commandLine) {
        CommandLine completion = new CommandLine(new AutoComplete.GenerateCompletion());
        completion.getCommandSpec().usageMessage().hidden(true);
        commandLine.addSubcommand(completion);
    }

    /// Fails, because a subcommand is required.
    @Override
    public void run() {
        throw new CommandLine.ParameterException(Objects.requireNonNull(spec).commandLine(), "a subcommand is missing");
    }

    private static Optional<Object> find(String className) {
        try {
            return Optional.of(Class.forName(className).getConstructor().newInstance());
        } catch (ClassNotFoundException _) {
            return Optional.empty();
        } catch (NoSuchMethodException
                | InstantiationException
                | IllegalAccessException
                | InvocationTargetException e) {
            throw new IllegalStateException(className + " is no subcommand", e);
        }
    }

    /// Prints the error with a pointer to `--help`, so that no list of flags hides it. A command with subcommands
    /// prints its usage instead, unless a similar name was suggested.
    private static int misused(CommandLine.ParameterException wrong, String[] args) {
        CommandLine command = wrong.getCommandLine();
        PrintWriter err = command.getErr();
        err.println(wrong.getMessage());
        boolean answered = CommandLine.UnmatchedArgumentException.printSuggestions(wrong, err);
        if (!command.getSubcommands().isEmpty()) {
            if (!answered) {
                command.usage(err);
            }
        } else {
            err.println("see " + command.getCommandSpec().qualifiedName() + " --help");
        }
        return command.getCommandSpec().exitCodeOnInvalidInput();
    }

    /// Prints an expected error as one line, and a bug with its stack trace.
    private static IExecutionExceptionHandler failures() {
        return (thrown, command, _) -> {
            switch (thrown) {
                case StartFailure e -> command.getErr().println("siphon: " + e.getMessage());
                case DriverException e -> command.getErr().println("siphon: " + e.getMessage());
                case CallFailure e -> command.getErr().println(e.getMessage());
                default -> thrown.printStackTrace(command.getErr());
            }
            return CommandLine.ExitCode.SOFTWARE;
        };
    }
}
