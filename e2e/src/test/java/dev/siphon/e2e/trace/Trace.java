package dev.siphon.e2e.trace;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.siphon.e2e.lab.Command;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// Lists the source files that run for a call. Prints a JSON line for each call and process.
@picocli.CommandLine.Command(
        name = "trace",
        mixinStandardHelpOptions = true,
        description = "Lists the source files of Siphon that run for a call; runs in a lab. One JSON line per call and"
                + " process; exit 1 if a process runs more files than --limit.")
public final class Trace implements Callable<Integer> {
    private static final int NO_LIMIT = Integer.MAX_VALUE;

    @Spec
    private CommandSpec command = CommandSpec.create();

    @Option(
            names = "--only",
            split = ",",
            description = "The RPCs (default: all): CreateVolume, CreateVolumeFromSnapshot, NodePublishVolume.")
    private List<String> only = RpcTraces.NAMES;

    @Option(names = "--limit", description = "The most files of a process; needs --only with one RPC, or --call.")
    private int limit = NO_LIMIT;

    @Option(
            names = "--agent",
            description = "PROCESS=HOST:PORT of JaCoCo's agent in a process that runs already; needs --call.")
    private Map<String, String> agents = new LinkedHashMap<>();

    @Option(names = "--call", description = "A program that makes a call to these processes, instead of RPCs.")
    private List<Path> programs = List.of();

    @Option(names = "--before", description = "A program that runs before each --call.")
    private List<Path> before = List.of();

    /// Runs in a lab.
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Trace()).execute(arguments));
    }

    @Override
    public Integer call() {
        if (!programs.isEmpty()) {
            // for example a pod on Kubernetes: e2e/trace-gate
            return report(ofPrograms()) ? 0 : 1;
        }
        if (limit != NO_LIMIT && only.size() != 1) {
            throw new ParameterException(command.commandLine(), "--limit needs --only with one RPC");
        }
        only.stream()
                .filter(name -> !RpcTraces.NAMES.contains(name))
                .findFirst()
                .ifPresent(name -> {
                    throw new ParameterException(
                            command.commandLine(), "--only: no RPC " + name + "; choose among " + RpcTraces.NAMES);
                });
        boolean met = true;
        try (RpcTraces traces = new RpcTraces()) {
            for (String name : only) {
                met &= report(traces.of(name));
                traces.stop();
            }
        }
        return met ? 0 : 1;
    }

    private TracedCall ofPrograms() {
        Map<String, CoverageAgent> running = new LinkedHashMap<>();
        agents.forEach((process, address) -> {
            int colon = address.lastIndexOf(':');
            running.put(
                    process,
                    new CoverageAgent(new InetSocketAddress(
                            address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)))));
        });
        return new TracedCall(
                programs.getFirst().getFileName().toString(), running, () -> run(before), () -> run(programs));
    }

    private static void run(List<Path> programs) {
        programs.forEach(program -> {
            var _ = Command.run(program.toString());
        });
    }

    private boolean report(TracedCall call) {
        boolean met = true;
        for (TracedCall.FilesOfProcess found : call.trace()) {
            JsonObject line = new JsonObject();
            line.addProperty("call", call.name());
            line.addProperty("process", found.process());
            line.addProperty("files", found.files().size());
            if (limit != NO_LIMIT) {
                line.addProperty("at_most", limit);
                line.addProperty("met", found.files().size() <= limit);
                met &= found.files().size() <= limit;
            }
            line.add("names", array(found.files()));
            line.add("run_without_a_call_too", array(found.shared()));
            System.out.println(line);
        }
        return met;
    }

    private static JsonArray array(Iterable<String> names) {
        JsonArray array = new JsonArray();
        names.forEach(array::add);
        return array;
    }
}
