package dev.siphon.node.rpc;

import com.google.protobuf.Timestamp;
import dev.siphon.csi.dataset.DatasetReplica;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.server.Deadlines;
import dev.siphon.csi.server.ErrorMapping;
import dev.siphon.csi.server.RpcLog;
import dev.siphon.csi.server.UnaryCall;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.csi.server.UnixSocketServer;
import dev.siphon.node.replica.DatasetName;
import dev.siphon.node.replica.ReadLocation;
import dev.siphon.node.replica.ReplicaState;
import dev.siphon.node.replica.ReplicaStatus;
import dev.siphon.node.replica.Replicas;
import io.grpc.stub.StreamObserver;
import java.util.List;
import siphon.node.v1.CacheGrpc;
import siphon.node.v1.EvictRequest;
import siphon.node.v1.EvictResponse;
import siphon.node.v1.ListRequest;
import siphon.node.v1.ListResponse;
import siphon.node.v1.PinRequest;
import siphon.node.v1.PinResponse;
import siphon.node.v1.Replica;
import siphon.node.v1.WarmProgress;
import siphon.node.v1.WarmRequest;

/// Serves the RPCs for the node's administrator to manage its replicas; `cache.proto` documents each.
public final class CacheService extends CacheGrpc.CacheImplBase {
    private static final int ALL_PERCENT = 100;

    private final Replicas replicas;
    private final Deadlines deadlines;

    public CacheService(Replicas replicas, Deadlines deadlines) {
        this.replicas = replicas;
        this.deadlines = deadlines;
    }

    /// Starts a server that only root may call.
    ///
    /// @throws dev.siphon.csi.server.StartFailure as [UnixSocketServer#start]
    public UnixSocketServer serve(UnixEndpoint endpoint) {
        return UnixSocketServer.startForRoot(
                endpoint, List.of(bindService()), List.of(new RpcLog(), new ErrorMapping()));
    }

    @Override
    public void list(ListRequest request, StreamObserver<ListResponse> observer) {
        UnaryCall.reply(
                observer,
                () -> ListResponse.newBuilder()
                        .addAllReplicas(replicas.list().stream()
                                .map(CacheService::replica)
                                .toList())
                        .addAllCacheProblems(replicas.cacheProblems())
                        .build());
    }

    @Override
    public void warm(WarmRequest request, StreamObserver<WarmProgress> observer) {
        replicas.warm(
                dataset(request.getDataset()),
                deadlines.remaining(),
                status -> observer.onNext(
                        WarmProgress.newBuilder().setReplica(replica(status)).build()),
                Deadlines::callerGone);
        observer.onCompleted();
    }

    @Override
    public void evict(EvictRequest request, StreamObserver<EvictResponse> observer) {
        UnaryCall.reply(observer, () -> {
            Digest dataset = dataset(request.getDataset());
            replicas.evict(dataset);
            return EvictResponse.newBuilder().setDigest(dataset.hex()).build();
        });
    }

    @Override
    public void pin(PinRequest request, StreamObserver<PinResponse> observer) {
        UnaryCall.reply(observer, () -> {
            Digest dataset = dataset(request.getDataset());
            if (request.getPinned()) {
                replicas.pin(dataset);
            } else {
                replicas.unpin(dataset);
            }
            return PinResponse.newBuilder().setDigest(dataset.hex()).build();
        });
    }

    private Digest dataset(String name) {
        return replicas.find(new DatasetName(name));
    }

    private static Replica replica(ReplicaStatus status) {
        Replica.Builder replica = Replica.newBuilder()
                .setDigest(status.digest().hex())
                .setBytes(status.bytes())
                .setPinned(status.pinned())
                .setAttachment(status.attached()
                        .map(attached -> switch (attached.place()) {
                            case ReadLocation.Remote _ -> Replica.Attachment.FROM_CEPHFS;
                            case ReadLocation.Local _ -> Replica.Attachment.FROM_REPLICA;
                        })
                        .orElse(Replica.Attachment.NONE));
        switch (status.state()) {
            case ReplicaState.Remote _ -> replica.setState(Replica.State.REMOTE);
            case ReplicaState.Filling(var percent, var cache) ->
                replica.setState(Replica.State.FILLING).setPercent(percent).setCacheDirectory(cache.toString());
            case ReplicaState.Queued(var percent, var before) ->
                replica.setState(Replica.State.QUEUED)
                        .setPercent(percent)
                        .setProblem(DatasetReplica.Turn.waiting(before));
            case ReplicaState.Local(var cache) ->
                replica.setState(Replica.State.LOCAL).setPercent(ALL_PERCENT).setCacheDirectory(cache.toString());
        }
        status.lastUse()
                .ifPresent(use -> replica.setLastUse(
                        Timestamp.newBuilder().setSeconds(use.getEpochSecond()).setNanos(use.getNano())));
        status.problem().ifPresent(replica::setProblem);
        return replica.build();
    }
}
