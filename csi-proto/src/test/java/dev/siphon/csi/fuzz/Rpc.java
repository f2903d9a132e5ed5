package dev.siphon.csi.fuzz;

import com.google.protobuf.Message;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.util.concurrent.TimeUnit;

/// One RPC with a request that is right.
public record Rpc<Q extends Message>(MethodDescriptor<Q, ?> method, Q valid) {
    /// What a caller can do who waits for nothing longer than this.
    private static final int DEADLINE_SECONDS = 20;

    /// What a request is answered with.
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
