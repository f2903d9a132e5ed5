package dev.siphon.node.fuse.rpc;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeSecret;
import dev.siphon.csi.server.UnaryCall;
import dev.siphon.node.fuse.FuseProcesses;
import dev.siphon.node.fuse.FuseProgram;
import dev.siphon.node.fuse.FuseStart;
import dev.siphon.node.linux.ChildProcess;
import dev.siphon.node.mount.CephCredentials;
import io.grpc.stub.StreamObserver;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import siphon.fuse.v1.AwaitEndRequest;
import siphon.fuse.v1.AwaitEndResponse;
import siphon.fuse.v1.FuseGrpc;
import siphon.fuse.v1.Program;
import siphon.fuse.v1.StartRequest;
import siphon.fuse.v1.StartResponse;

/// Serves the RPCs of `siphon fuse`; `fuse.proto` documents each.
public final class FuseService extends FuseGrpc.FuseImplBase {
    /// The upper limit for a request; no mount takes longer.
    private static final Duration LONGEST = Duration.ofMinutes(10);

    private final FuseProcesses processes;

    public FuseService(FuseProcesses processes) {
        this.processes = processes;
    }

    @Override
    public void start(StartRequest request, StreamObserver<StartResponse> observer) {
        UnaryCall.reply(observer, () -> {
            ChildProcess.StartOutcome outcome = processes.start(
                    new FuseStart(
                            program(request.getProgram()),
                            request.getTag(),
                            path(request.getTargetPath()),
                            request.getArgumentsList(),
                            credentials(request)),
                    limit(request.getLimitMs()));
            return StartResponse.newBuilder()
                    .setServing(outcome.serving())
                    .setInTime(outcome.inTime())
                    .setOutput(outcome.output())
                    .build();
        });
    }

    @Override
    public void awaitEnd(AwaitEndRequest request, StreamObserver<AwaitEndResponse> observer) {
        UnaryCall.reply(
                observer,
                () -> AwaitEndResponse.newBuilder()
                        .setEnded(processes.awaitEnd(
                                program(request.getProgram()), request.getTag(), limit(request.getLimitMs())))
                        .build());
    }

    private static FuseProgram program(Program program) {
        return switch (program) {
            case CEPH_FUSE -> FuseProgram.CEPH_FUSE;
            case EROFSFUSE -> FuseProgram.EROFSFUSE;
            case PROGRAM_UNSPECIFIED, UNRECOGNIZED ->
                throw new DriverException.InvalidRequest(
                        "only ceph-fuse and erofsfuse run here; node and `siphon fuse` may have different versions");
        };
    }

    private static Path path(String text) {
        try {
            return Path.of(text);
        } catch (InvalidPathException _) {
            throw new DriverException.InvalidRequest("the mount point " + QuotedText.of(text) + " is not a path");
        }
    }

    private static Optional<CephCredentials> credentials(StartRequest request) {
        return request.getUserId().isEmpty()
                ? Optional.empty()
                : Optional.of(CephCredentials.fromSecrets(Map.of(
                        VolumeSecret.USER_ID, request.getUserId(), VolumeSecret.USER_KEY, request.getUserKey())));
    }

    private static Duration limit(long millis) {
        if (millis < 1 || millis > LONGEST.toMillis()) {
            throw new DriverException.InvalidRequest(
                    "the limit must be 1 to " + LONGEST.toMillis() + " ms, not " + millis);
        }
        return Duration.ofMillis(millis);
    }
}
