package dev.siphon.csi.fuzz;

import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.util.concurrent.TimeUnit;

/// An RPC with a valid request.
public record Rpc<Q extends Message>(MethodDescriptor<Q, ?> method, Q valid) {
    /// No caller waits longer for a reply.
    private static final int DEADLINE_SECONDS = 20;

    /// Returns the status of the reply.
    ///
    /// @param request of this RPC's type
    public Status answer(Channel channel, Message request) {
        try {
            Object _ = ClientCalls.blockingUnaryCall(
                    channel,
                    method,
                    CallOptions.DEFAULT.withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS),
                    method.parseRequest(request.toByteString().newInput()));
            return Status.OK;
        } catch (StatusRuntimeException refused) {
            return refused.getStatus();
        }
    }

    @Override
    public String toString() {
        return String.valueOf(method.getBareMethodName());
    }
}
