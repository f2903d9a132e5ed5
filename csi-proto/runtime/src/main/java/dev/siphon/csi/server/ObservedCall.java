package dev.siphon.csi.server;

import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/// Reports the request of an RPC and its end to an observer. The end is reported once, whether the handler replies
/// or the caller goes away first.
final class ObservedCall {
    /// The caller's deadline starts when it sends the request, ours when the request arrives. The caller may
    /// therefore cancel this much before our deadline passes.
    private static final long UNDER_WAY_MILLIS = 500;

    private ObservedCall() {}

    /// Receives the request and the end of an RPC.
    interface Observer {
        default void request(Object message) {}

        void end(Status status);
    }

    static <Q, R> ServerCall.Listener<Q> start(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next, Observer observer) {
        AtomicBoolean ended = new AtomicBoolean();
        ServerCall.Listener<Q> listener = next.startCall(
                new SimpleForwardingServerCall<Q, R>(call) {
                    @Override
                    public void close(Status status, Metadata trailers) {
                        if (!ended.getAndSet(true)) {
                            observer.end(call.isCancelled() ? gone() : status);
                        }
                        super.close(status, trailers);
                    }
                },
                headers);
        return new SimpleForwardingServerCallListener<Q>(listener) {
            @Override
            public void onMessage(Q message) {
                observer.request(message);
                super.onMessage(message);
            }

            @Override
            public void onCancel() {
                if (!ended.getAndSet(true)) {
                    observer.end(gone());
                }
                super.onCancel();
            }
        };
    }

    /// Returns the short name of the method, such as `CreateVolume`.
    static String method(ServerCall<?, ?> call) {
        String bare = call.getMethodDescriptor().getBareMethodName();
        return bare == null ? call.getMethodDescriptor().getFullMethodName() : bare;
    }

    /// Returns the status of an RPC whose caller has gone.
    private static Status gone() {
        Deadline deadline = Context.current().getDeadline();
        return deadline != null && deadline.timeRemaining(TimeUnit.MILLISECONDS) < UNDER_WAY_MILLIS
                ? Status.DEADLINE_EXCEEDED.withDescription("the caller's deadline passed")
                : Status.CANCELLED.withDescription("the caller has gone");
    }
}
