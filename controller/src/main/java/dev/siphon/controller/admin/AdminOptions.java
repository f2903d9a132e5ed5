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

/// What all administrators' commands have in common, for picocli's `@Mixin`: where Ceph, the directory and the keys
/// are, and how to print what was found. Inside the controller's pod the environment says the former.
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
    /// @param work what to do; what it returns is the exit status
    /// @throws picocli.CommandLine.ParameterException naming every flag that is wrong
    /// @throws dev.siphon.csi.DriverException what Ceph, the directory or `work` refused; the launcher prints
    ///     it and exits 1
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

    /// The CSI driver's name.
    String driverName() {
        return driverName;
    }

    /// Where accounts come from, for people.
    String directoryInWords() {
        return backend.directoryInWords();
    }

    /// Whether stdout is for JSON.
    boolean printsJson() {
        return printing.printsJson();
    }

    /// Prints one thing, a line per part, or as a JSON object.
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

    /// Prints what was found, as a table or as JSON.
    void print(CommandSpec command, Table table) {
        printing.print(command, table);
    }
}
