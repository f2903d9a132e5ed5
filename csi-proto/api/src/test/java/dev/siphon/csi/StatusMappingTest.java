package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.grpc.Status;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

final class StatusMappingTest {
    static Stream<Arguments> errors() {
        return Stream.of(
                Arguments.of(new DriverException.InvalidRequest("m"), Status.Code.INVALID_ARGUMENT),
                Arguments.of(new DriverException.NotFound("m"), Status.Code.NOT_FOUND),
                Arguments.of(new DriverException.IncompatibleExisting("m"), Status.Code.ALREADY_EXISTS),
                Arguments.of(new DriverException.OperationPending("m"), Status.Code.ABORTED),
                Arguments.of(new DriverException.InUse("m"), Status.Code.FAILED_PRECONDITION),
                Arguments.of(new DriverException.CapacityOutOfRange("m"), Status.Code.OUT_OF_RANGE),
                Arguments.of(new DriverException.QuotaExhausted("m"), Status.Code.RESOURCE_EXHAUSTED),
                Arguments.of(new DriverException.AccessDenied("m"), Status.Code.PERMISSION_DENIED),
                Arguments.of(new DriverException.BackendUnavailable("m"), Status.Code.UNAVAILABLE),
                Arguments.of(new DriverException.DeadlinePassed("m"), Status.Code.DEADLINE_EXCEEDED),
                Arguments.of(new DriverException.Unsupported("m"), Status.Code.UNIMPLEMENTED),
                Arguments.of(new DriverException.BackendFault("m"), Status.Code.INTERNAL));
    }

    @ParameterizedTest
    @MethodSource("errors")
    void eachErrorHasItsCodeAndKeepsItsMessage(DriverException error, Status.Code code) {
        Status status = StatusMapping.toStatus(error);
        assertEquals(code, status.getCode());
        assertEquals("m", status.getDescription());
    }

    @ParameterizedTest
    @MethodSource("errors")
    void eachErrorIsKnownAgainByItsCode(DriverException error, Status.Code code) {
        DriverException read = StatusMapping.fromStatus(StatusMapping.toStatus(error));
        assertEquals(error.getClass(), read.getClass());
        assertEquals(code + ": m", read.getMessage());
    }

    @Test
    void otherCodesAreFaults() {
        DriverException.BackendFault fault =
                assertInstanceOf(DriverException.BackendFault.class, StatusMapping.fromStatus(Status.UNKNOWN));
        assertEquals("UNKNOWN: the controller gave no details", fault.getMessage());
    }

    @Test
    void everyErrorIsInTheTable() {
        assertEquals(DriverException.class.getPermittedSubclasses().length, errors().count());
    }
}
