package dev.siphon.controller.rpc;

import csi.v1.ControllerGrpc;
import csi.v1.GroupControllerGrpc;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.Callers;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.ControllerDomain;
import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.controller.volume.InMemoryDirectory;
import dev.siphon.controller.volume.Owners;
import dev.siphon.csi.client.UnixSocketChannel;
import dev.siphon.csi.server.ErrorMapping;
import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.csi.server.UnixSocketServer;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/// The controller's services on a unix socket, over a Ceph in memory.
final class ServedController implements AutoCloseable {
    private final InMemoryCeph ceph = new InMemoryCeph();
    private final Path folder;
    private final UnixSocketServer server;
    private final UnixSocketChannel channel;

    private ServedController(boolean attach, UnaryOperator<CephPorts> decorate) {
        try {
            folder = Files.createTempDirectory("siphon-rpc");
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        Account owner = new Account("u1", "id-1", 10_001, 10_001, Set.of(), OptionalLong.empty());
        ControllerDomain domain = ControllerDomain.over(
                decorate.apply(ceph.ports()),
                new Owners(new InMemoryDirectory(Map.of("u1", owner)), Optional.empty(), Optional.of("u1")),
                Callers.NONE,
                () -> Duration.ofSeconds(20));
        UnixEndpoint endpoint = new UnixEndpoint(folder.resolve("csi.sock"));
        server = UnixSocketServer.start(
                endpoint,
                List.of(
                        new ControllerService(domain, attach, Optional.empty()).bindService(),
                        new GroupControllerService(domain).bindService()),
                List.of(new ErrorMapping()));
        channel = UnixSocketChannel.open(endpoint);
    }

    static ServedController start(boolean attach) {
        return new ServedController(attach, UnaryOperator.identity());
    }

    /// Starts a controller with a decorator between the domain and Ceph.
    static ServedController start(boolean attach, UnaryOperator<CephPorts> decorate) {
        return new ServedController(attach, decorate);
    }

    InMemoryCeph ceph() {
        return ceph;
    }

    Channel channel() {
        return channel.channel();
    }

    ControllerGrpc.ControllerBlockingStub controller() {
        return ControllerGrpc.newBlockingStub(channel.channel()).withDeadlineAfter(30, TimeUnit.SECONDS);
    }

    GroupControllerGrpc.GroupControllerBlockingStub groups() {
        return GroupControllerGrpc.newBlockingStub(channel.channel()).withDeadlineAfter(30, TimeUnit.SECONDS);
    }

    /// Returns the status of a call.
    static Status statusOf(Callable<?> call) {
        try {
            call.call();
            return Status.OK;
        } catch (StatusRuntimeException refused) {
            return refused.getStatus();
        } catch (Exception unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    @Override
    public void close() {
        channel.close();
        server.close();
        try {
            Files.deleteIfExists(folder.resolve("csi.sock"));
            Files.delete(folder);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
