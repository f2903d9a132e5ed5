package dev.siphon.e2e.driver;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Optional;
import java.util.function.Supplier;

/// The outcome of a call.
///
/// @param code OK, or the error's
/// @param message the driver's error message; empty without an error
/// @param nanos how long the caller waited
/// @param response the driver's reply if the call succeeded
public record Outcome<T>(Status.Code code, String message, long nanos, Optional<T> response) {
    /// Makes a call and times it.
    public static <T> Outcome<T> of(Supplier<T> call) {
        long began = System.nanoTime();
        try {
            T response = call.get();
            return new Outcome<>(Status.Code.OK, "", System.nanoTime() - began, Optional.of(response));
        } catch (StatusRuntimeException e) {
            String message = Optional.ofNullable(e.getStatus().getDescription()).orElse("");
            return new Outcome<>(e.getStatus().getCode(), message, System.nanoTime() - began, Optional.empty());
        }
    }

    public boolean ok() {
        return code == Status.Code.OK;
    }

    /// Returns the response of a call that succeeded.
    ///
    /// @throws AssertionError if it failed
    public T get() {
        return response.orElseThrow(() -> new AssertionError("expected OK, got " + code + ": " + message));
    }
}
