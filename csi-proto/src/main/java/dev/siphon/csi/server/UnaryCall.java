package dev.siphon.csi.server;

import io.grpc.stub.StreamObserver;
import java.util.function.Supplier;

/// The bridge from a plain blocking handler to gRPC, so that [StreamObserver] is named only in the generated
/// services' thin subclasses:
///
/// ```java
/// @Override
/// public void deleteVolume(DeleteVolumeRequest request, StreamObserver<DeleteVolumeResponse> observer) {
///     Unary.reply(observer, () -> deleteVolume.handle(request));
/// }
/// ```
public final class UnaryCall {
    private UnaryCall() {}

    /// Answers with what `handler` returns. What it throws goes on to [ErrorMapping].
    public static <T> void reply(StreamObserver<T> observer, Supplier<T> handler) {
        T response = handler.get();
        observer.onNext(response);
        observer.onCompleted();
    }
}
