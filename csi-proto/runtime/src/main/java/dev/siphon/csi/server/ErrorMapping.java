package dev.siphon.csi.server;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.StatusMapping;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.HexFormat;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Maps the exceptions of handlers to a status: a [DriverException] by [StatusMapping], a status as it is, and
/// anything else, which is a bug, to INTERNAL. gRPC alone would return UNKNOWN without a message.
///
/// Only this class logs the stack of a bug. The caller gets an incident number to find it, and no internals. If the
/// caller has gone, the status is dropped, but a bug is still logged.
public final class ErrorMapping implements ServerInterceptor {
    private static final Logger LOG = LoggerFactory.getLogger(ErrorMapping.class);

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        OnceClosed<Q, R> once = new OnceClosed<>(call);
        return new Guarded<>(next.startCall(once, headers), once);
    }

    /// Returns the status for `thrown`, and logs a bug.
    static Status toStatus(String method, Throwable thrown) {
        return switch (thrown) {
            case DriverException e -> StatusMapping.toStatus(e);
            case StatusRuntimeException e -> e.getStatus();
            default -> {
                String incident =
                        HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextInt());
                LOG.atError()
                        .setCause(thrown)
                        .addKeyValue("method", method)
                        .addKeyValue("incident", incident)
                        .log("a handler failed unexpectedly");
                yield Status.INTERNAL.withDescription(
                        "internal error, see incident " + incident + " in the driver's log");
            }
        };
    }

    private static final class OnceClosed<Q, R> extends SimpleForwardingServerCall<Q, R> {
        private boolean closed;

        OnceClosed(ServerCall<Q, R> call) {
            super(call);
        }

        @Override
        public void close(Status status, Metadata trailers) {
            if (!closed) {
                closed = true;
                super.close(status, trailers);
            }
        }
    }

    private static final class Guarded<Q, R> extends SimpleForwardingServerCallListener<Q> {
        private final ServerCall<Q, R> call;

        Guarded(ServerCall.Listener<Q> delegate, ServerCall<Q, R> call) {
            super(delegate);
            this.call = call;
        }

        @Override
        public void onMessage(Q message) {
            guard(() -> super.onMessage(message));
        }

        @Override
        public void onHalfClose() {
            guard(super::onHalfClose);
        }

        @Override
        public void onCancel() {
            guard(super::onCancel);
        }

        @Override
        public void onComplete() {
            guard(super::onComplete);
        }

        @Override
        public void onReady() {
            guard(super::onReady);
        }

        private void guard(Runnable event) {
            try {
                event.run();
            } catch (RuntimeException | Error e) {
                // Errors too: if a native library cannot be linked, the caller must still get a reply
                call.close(toStatus(call.getMethodDescriptor().getFullMethodName(), e), new Metadata());
            }
        }
    }
}
