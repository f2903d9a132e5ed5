package dev.siphon.node.fuse.rpc;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.StatusMapping;
import dev.siphon.csi.client.UnixSocketChannel;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.node.fuse.FuseProcesses;
import dev.siphon.node.fuse.FuseProgram;
import dev.siphon.node.fuse.FuseStart;
import dev.siphon.node.linux.ChildProcess;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import siphon.fuse.v1.AwaitEndRequest;
import siphon.fuse.v1.FuseGrpc;
import siphon.fuse.v1.FuseGrpc.FuseBlockingStub;
import siphon.fuse.v1.Program;
import siphon.fuse.v1.StartRequest;
import siphon.fuse.v1.StartResponse;

/// Runs processes through `siphon fuse`, so that they outlive this process and its container. Connects for each
/// RPC: they are rare, and so a restarted supervisor is found at once.
public final class SupervisedFuse implements FuseProcesses {
    /// What the supervisor needs beyond the limit, to kill a program and reply.
    private static final Duration MARGIN = Duration.ofSeconds(5);

    private final UnixEndpoint socket;

    /// @param socket the supervisor's; it need not exist yet
    public SupervisedFuse(UnixEndpoint socket) {
        this.socket = socket;
    }

    @Override
    public ChildProcess.StartOutcome start(FuseStart start, Duration limit) {
        StartRequest.Builder request = StartRequest.newBuilder()
                .setProgram(program(start.program()))
                .setTag(start.tag())
                .setTargetPath(start.mountPoint().toString())
                .addAllArguments(start.arguments())
                .setLimitMs(limit.toMillis());
        start.credentials()
                .ifPresent(credentials -> request.setUserId(credentials.userId())
                        .setUserKey(credentials.key().reveal()));
        try {
            StartResponse response = call(limit, fuse -> fuse.start(request.build()));
            return new ChildProcess.StartOutcome(response.getInTime(), response.getServing(), response.getOutput());
        } catch (StatusRuntimeException e) {
            throw translate("starting " + start.program().command(), e);
        }
    }

    /// Returns true if the supervisor does not run: its processes end with its container.
    @Override
    public boolean awaitEnd(FuseProgram program, String tag, Duration limit) {
        AwaitEndRequest request = AwaitEndRequest.newBuilder()
                .setProgram(program(program))
                .setTag(tag)
                .setLimitMs(limit.toMillis())
                .build();
        try {
            return call(limit, fuse -> fuse.awaitEnd(request).getEnded());
        } catch (StatusRuntimeException e) {
            return switch (e.getStatus().getCode()) {
                case UNAVAILABLE -> true;
                case DEADLINE_EXCEEDED, CANCELLED -> false;
                default -> throw translate("waiting for " + program.command() + " to end", e);
            };
        }
    }

    private <T> T call(Duration limit, Function<FuseBlockingStub, T> call) {
        try (UnixSocketChannel channel = UnixSocketChannel.open(socket)) {
            return call.apply(FuseGrpc.newBlockingStub(channel.channel())
                    .withDeadlineAfter(limit.plus(MARGIN).toMillis(), TimeUnit.MILLISECONDS));
        }
    }

    private DriverException translate(String what, StatusRuntimeException e) {
        return switch (e.getStatus().getCode()) {
            case UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED ->
                new DriverException.BackendUnavailable(what + " failed: `siphon fuse` does not answer at "
                        + socket.path() + " (" + e.getStatus().getCode() + "). Start it; in Kubernetes, check that the"
                        + " pod of the DaemonSet siphon-fuse on this node runs");
            default -> StatusMapping.fromStatus(e.getStatus());
        };
    }

    private static Program program(FuseProgram program) {
        return switch (program) {
            case CEPH_FUSE -> Program.CEPH_FUSE;
            case EROFSFUSE -> Program.EROFSFUSE;
        };
    }
}
