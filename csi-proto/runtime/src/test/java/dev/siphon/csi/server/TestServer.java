package dev.siphon.csi.server;

import csi.v1.ControllerGrpc;
import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import dev.siphon.csi.client.UnixSocketChannel;
import io.grpc.ServerInterceptor;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/// A server on a real socket, with the test's own CreateVolume, and its client.
final class TestServer implements AutoCloseable {
    private final UnixSocketServer server;
    private final UnixSocketChannel channel;

    private TestServer(UnixSocketServer server, UnixSocketChannel channel) {
        this.server = server;
        this.channel = channel;
    }

    static TestServer start(
            Path socket,
            List<ServerInterceptor> interceptors,
            Function<CreateVolumeRequest, CreateVolumeResponse> handler) {
        UnixEndpoint endpoint = new UnixEndpoint(socket);
        ControllerGrpc.ControllerImplBase service = new ControllerGrpc.ControllerImplBase() {
            @Override
            public void createVolume(CreateVolumeRequest request, StreamObserver<CreateVolumeResponse> observer) {
                UnaryCall.reply(observer, () -> handler.apply(request));
            }
        };
        return new TestServer(
                UnixSocketServer.start(endpoint, List.of(service.bindService()), interceptors),
                UnixSocketChannel.open(endpoint));
    }

    ControllerGrpc.ControllerBlockingStub stub() {
        return ControllerGrpc.newBlockingStub(channel.channel());
    }

    ControllerGrpc.ControllerFutureStub futureStub() {
        return ControllerGrpc.newFutureStub(channel.channel());
    }

    boolean drain(Duration patience) {
        return server.drain(patience);
    }

    @Override
    public void close() {
        channel.close();
        server.close();
    }
}
