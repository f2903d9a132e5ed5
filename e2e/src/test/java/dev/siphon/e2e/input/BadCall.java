package dev.siphon.e2e.input;

import dev.siphon.e2e.driver.CsiClient;
import io.grpc.Status;
import java.util.function.Function;

/// A call that must fail, or that does nothing.
///
/// @param name of the row
/// @param code that CSI specifies for it
/// @param says text that the message must contain: the field or the parameter
/// @param call to the socket
record BadCall(String name, Status.Code code, String says, Function<CsiClient, ?> call) {
    @Override
    public String toString() {
        return name;
    }
}
