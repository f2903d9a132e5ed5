package dev.siphon.cli;

import dev.siphon.csi.client.UnixSocketChannel;
import dev.siphon.csi.report.PrintOptions;
import dev.siphon.csi.server.JsonLogging;
import dev.siphon.csi.server.UnixEndpoint;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.Console;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.event.Level;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import siphon.node.v1.CacheGrpc;
import siphon.node.v1.EvictRequest;
import siphon.node.v1.ListRequest;
import siphon.node.v1.ListResponse;
import siphon.node.v1.PinRequest;
import siphon.node.v1.WarmRequest;

/// `siphon cache`: manages the dataset replicas of a node. Runs on that node as root, and calls the node's process.
@Command(
        name = "cache",
        description = {
            "Shows and changes which datasets this node has on its disks.",
            "It asks the node's process over its control socket, so run it on the node as root. DATASET is a digest or"
                    + " its beginning, at least 8 digits."
        })
public final class CacheCommand implements Runnable {
    private static final int CALL_SECONDS = 60;

    @Spec
    private CommandSpec command = CommandSpec.create();

    @Option(
            names = "--socket",
            paramLabel = "SOCKET",
            scope = ScopeType.INHERIT,
            defaultValue = "${env:SIPHON_CONTROL_SOCKET:-/var/lib/siphon/node/control.sock}",
            description = "The node's control socket (default: /var/lib/siphon/node/control.sock).")
    private String socket = "";

    @Override
    public void run() {
        throw new ParameterException(command.commandLine(), "say what to do: list, warm, evict, pin or unpin");
    }

    @Command(name = "list", description = "Lists the datasets that are attached, on a disk, or being filled.")
    int list(@Mixin PrintOptions printing) {
        ListResponse found = call(CALL_SECONDS, cache -> cache.list(ListRequest.getDefaultInstance()));
        CommandSpec spec = subcommand("list");
        printing.print(spec, ReplicaTable.of(found.getReplicasList(), printing.printsJson()));
        found.getCacheProblemsList()
                .forEach(problem -> spec.commandLine().getErr().println("siphon: " + problem));
        return ExitCode.OK;
    }

    @Command(
            name = "warm",
            description = {
                "Fills or checks a dataset's replica, and waits until it is complete.",
                "The dataset must be attached: the node reads its image through the volume's mount."
            })
    int warm(
            @Parameters(paramLabel = "DATASET", description = "Such as 0123abcd.") String dataset,
            @Option(
                            names = "--timeout",
                            paramLabel = "SECONDS",
                            defaultValue = "3600",
                            description = "How long to wait; the fill continues afterwards (default: 3600).")
                    int seconds) {
        if (seconds < 1) {
            throw new ParameterException(subcommand("warm").commandLine(), "--timeout: must be at least 1 second");
        }
        WarmupProgressLines lines = new WarmupProgressLines(
                subcommand("warm").commandLine().getOut(),
                Optional.ofNullable(System.console())
                        .filter(Console::isTerminal)
                        .isPresent());
        return call(seconds, cache -> {
            try {
                cache.warm(WarmRequest.newBuilder().setDataset(dataset).build())
                        .forEachRemaining(progress -> lines.show(progress.getReplica()));
            } finally {
                lines.end();
            }
            return ExitCode.OK;
        });
    }

    @Command(
            name = "evict",
            description = "Removes a dataset's replica; pods then read it from CephFS until it is warmed again.")
    int evict(@Parameters(paramLabel = "DATASET", description = "Such as 0123abcd.") String dataset) {
        String digest = call(
                CALL_SECONDS,
                cache -> cache.evict(
                                EvictRequest.newBuilder().setDataset(dataset).build())
                        .getDigest());
        return say("evict", "dataset " + digest + " is on no disk of this node");
    }

    @Command(name = "pin", description = "Keeps a dataset's replica from being evicted, also after a restart.")
    int pin(@Parameters(paramLabel = "DATASET", description = "Such as 0123abcd.") String dataset) {
        return say("pin", "dataset " + pinned(dataset, true) + " is pinned");
    }

    @Command(name = "unpin", description = "Undoes pin.")
    int unpin(@Parameters(paramLabel = "DATASET", description = "Such as 0123abcd.") String dataset) {
        return say("unpin", "dataset " + pinned(dataset, false) + " is not pinned");
    }

    private String pinned(String dataset, boolean pinned) {
        return call(
                CALL_SECONDS,
                cache -> cache.pin(PinRequest.newBuilder()
                                .setDataset(dataset)
                                .setPinned(pinned)
                                .build())
                        .getDigest());
    }

    private int say(String name, String line) {
        subcommand(name).commandLine().getOut().println(line);
        return ExitCode.OK;
    }

    private CommandSpec subcommand(String name) {
        return Objects.requireNonNull(command.subcommands().get(name)).getCommandSpec();
    }

    private <T> T call(int seconds, Function<CacheGrpc.CacheBlockingStub, T> body) {
        JsonLogging.start(Level.ERROR);
        try (UnixSocketChannel channel = UnixSocketChannel.open(endpoint())) {
            channel.connect(Duration.ofSeconds(Math.min(seconds, CALL_SECONDS)));
            return body.apply(
                    CacheGrpc.newBlockingStub(channel.channel()).withDeadlineAfter(seconds, TimeUnit.SECONDS));
        } catch (StatusRuntimeException e) {
            throw failure(e.getStatus());
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new CallFailure("CANCELLED: interrupted");
        }
    }

    private CallFailure failure(Status status) {
        String said = status.getCode() + ": "
                + Optional.ofNullable(status.getDescription()).orElse("no message");
        return new CallFailure(
                status.getCode() == Status.Code.UNAVAILABLE && status.getCause() != null
                        ? said + "; is the node's process running, is its socket " + socket + ", and are you root?"
                        : said);
    }

    private UnixEndpoint endpoint() {
        try {
            return UnixEndpoint.parse(socket);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), "--socket: " + e.getMessage());
        }
    }
}
