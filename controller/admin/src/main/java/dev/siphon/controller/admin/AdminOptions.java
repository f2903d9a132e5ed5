package dev.siphon.controller.admin;

import dev.siphon.controller.Backend;
import dev.siphon.controller.BackendConfig;
import dev.siphon.controller.BackendOptions;
import dev.siphon.controller.ceph.fs.ClientIdentity;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.report.PrintOptions;
import dev.siphon.csi.report.Table;
import dev.siphon.csi.server.ConfigProblems;
import dev.siphon.csi.server.DriverName;
import dev.siphon.csi.server.JsonLogging;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.ToIntFunction;
import org.slf4j.event.Level;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/// The flags that all administrators' commands share, for picocli's `@Mixin`: how to reach Ceph, the directory and
/// the keys, and how to print results. Inside the controller's pod the environment sets the former.
public final class AdminOptions {
    @Mixin
    private BackendOptions backend = new BackendOptions();

    @Option(
            names = "--driver-name",
            paramLabel = "NAME",
            defaultValue = "${env:CSI_DRIVER_NAME:-cephfs.siphon.dev}",
            description = "With --kubernetes-namespace: the CSI driver's name (default: cephfs.siphon.dev).")
    private String driverName = "";

    @Mixin
    private PrintOptions printing = new PrintOptions();

    /// Connects, works, and disconnects.
    ///
    /// @param work returns the exit status
    /// @throws picocli.CommandLine.ParameterException naming every invalid flag
    /// @throws dev.siphon.csi.DriverException if Ceph, the directory or `work` fails; the launcher prints it and
    ///     exits 1
    int run(CommandSpec command, ToIntFunction<Backend> work) {
        ConfigProblems problems = new ConfigProblems();
        var read = backend.read(problems);
        var driver = problems.read("--driver-name", () -> new DriverName(driverName));
        BackendConfig config = problems.orFail(command, read::get);
        JsonLogging.start(Level.ERROR);
        ClientIdentity me = ClientIdentity.of(
                "siphon admin",
                Path.of("/proc", Long.toString(ProcessHandle.current().pid())));
        try (Backend open = Backend.open(
                config, driver.get(), me, config.limits()::patience, new PrometheusRegistry(), new BackgroundTasks())) {
            return work.applyAsInt(open);
        }
    }

    String driverName() {
        return driverName;
    }

    /// Returns the source of accounts, for people.
    String directoryInWords() {
        return backend.directoryInWords();
    }

    /// Whether stdout is JSON.
    boolean printsJson() {
        return printing.printsJson();
    }

    /// Prints one object: one line per part, or as JSON.
    void printOne(CommandSpec command, Map<String, Table.Cell> parts) {
        if (printsJson()) {
            Table one = new Table(parts.keySet().toArray(String[]::new));
            one.row(parts.values().toArray(Table.Cell[]::new));
            print(command, one);
            return;
        }
        PrintWriter out = command.commandLine().getOut();
        int width = parts.keySet().stream().mapToInt(String::length).max().orElse(0) + 2;
        parts.forEach((name, cell) -> out.println(name + " ".repeat(width - name.length()) + Table.shown(cell)));
        out.flush();
    }

    /// Prints the results, as a table or as JSON.
    void print(CommandSpec command, Table table) {
        printing.print(command, table);
    }
}
