package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import org.junit.jupiter.api.function.Executable;

/// Checks calls that a node must refuse.
final class Refusals {
    private Refusals() {}

    /// Checks that the node refuses `call` with `code`.
    ///
    /// @return the error message
    static String refused(Code code, Executable call) {
        StatusRuntimeException e = assertThrows(StatusRuntimeException.class, call);
        String message = String.valueOf(e.getMessage());
        assertEquals(code, e.getStatus().getCode(), message);
        return message;
    }
}
