package dev.siphon.csi.server;

import io.grpc.stub.StreamObserver;
import java.util.function.Supplier;

/// Adapts plain blocking handlers to gRPC, so that only the thin subclasses of the generated services use
/// [StreamObserver]:
///
/// ```java
/// @Override
/// public void deleteVolume(DeleteVolumeRequest request, StreamObserver<DeleteVolumeResponse> observer) {
///     UnaryCall.reply(observer, () -> deleteVolume.handle(request));
/// }
/// ```
public final class UnaryCall {
    private UnaryCall() {}

    /// Sends the result of `handler`. Its exceptions pass to [ErrorMapping].
    public static <T> void reply(StreamObserver<T> observer, Supplier<T> handler) {
        T response = handler.get();
        observer.onNext(response);
        observer.onCompleted();
    }
}
