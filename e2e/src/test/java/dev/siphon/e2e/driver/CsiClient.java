package dev.siphon.e2e.driver;

import csi.v1.ControllerGrpc;
import csi.v1.GroupControllerGrpc;
import csi.v1.IdentityGrpc;
import csi.v1.NodeGrpc;
import dev.siphon.csi.client.UnixSocketChannel;
import dev.siphon.csi.server.UnixEndpoint;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// A connection to one socket of a driver. Every call has a deadline.
public final class CsiClient implements AutoCloseable {
    /// The deadline of calls whose duration does not matter to the test.
    public static final Duration PATIENT = Duration.ofSeconds(60);

    private final UnixSocketChannel channel;
    private final Duration deadline;

    private CsiClient(UnixSocketChannel channel, Duration deadline) {
        this.channel = channel;
        this.deadline = deadline;
    }

    /// Connects to `endpoint`.
    public static CsiClient to(UnixEndpoint endpoint) {
        return new CsiClient(UnixSocketChannel.open(endpoint), PATIENT);
    }

    /// Returns the same connection with another deadline for each call.
    public CsiClient within(Duration each) {
        return new CsiClient(channel, each);
    }

    public ControllerGrpc.ControllerBlockingStub controller() {
        return ControllerGrpc.newBlockingStub(channel.channel())
                .withDeadlineAfter(deadline.toMillis(), TimeUnit.MILLISECONDS);
    }

    public GroupControllerGrpc.GroupControllerBlockingStub groups() {
        return GroupControllerGrpc.newBlockingStub(channel.channel())
                .withDeadlineAfter(deadline.toMillis(), TimeUnit.MILLISECONDS);
    }

    public NodeGrpc.NodeBlockingStub node() {
        return NodeGrpc.newBlockingStub(channel.channel())
                .withDeadlineAfter(deadline.toMillis(), TimeUnit.MILLISECONDS);
    }

    public IdentityGrpc.IdentityBlockingStub identity() {
        return IdentityGrpc.newBlockingStub(channel.channel())
                .withDeadlineAfter(deadline.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        channel.close();
    }
}
