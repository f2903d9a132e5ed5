package dev.siphon.controller.ceph.call;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.StatusMapping;
import io.grpc.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CephErrnoTest {
    @ParameterizedTest(name = "{1}")
    @CsvSource({
        "-1, EPERM, PERMISSION_DENIED",
        "-2, ENOENT, NOT_FOUND",
        "-5, EIO, UNAVAILABLE",
        "-11, EAGAIN, ABORTED",
        "-13, EACCES, PERMISSION_DENIED",
        "-16, EBUSY, ABORTED",
        "-17, EEXIST, ALREADY_EXISTS",
        "-20, ENOTDIR, INVALID_ARGUMENT",
        "-22, EINVAL, INVALID_ARGUMENT",
        "-28, ENOSPC, RESOURCE_EXHAUSTED",
        "-31, EMLINK, RESOURCE_EXHAUSTED",
        "-39, ENOTEMPTY, FAILED_PRECONDITION",
        "-40, ELOOP, INVALID_ARGUMENT",
        "-61, ENODATA, NOT_FOUND",
        "-95, EOPNOTSUPP, UNIMPLEMENTED",
        "-107, ENOTCONN, UNAVAILABLE",
        "-108, ESHUTDOWN, UNAVAILABLE",
        "-110, ETIMEDOUT, UNAVAILABLE",
        "-122, EDQUOT, RESOURCE_EXHAUSTED"
    })
    void eachNumberHasItsNameAndCode(int returnCode, String name, Status.Code code) {
        DriverException error = CephErrno.failure(returnCode, "fs subvolume rm in cluster lab", "no way");
        assertEquals("fs subvolume rm in cluster lab failed: " + name + ": no way", error.getMessage());
        assertEquals(code, StatusMapping.toStatus(error).getCode());
        assertTrue(CephErrno.valueOf(name).is(returnCode));
        assertTrue(CephErrno.valueOf(name).is(-returnCode));
        assertFalse(CephErrno.valueOf(name).is(0));
    }

    @Test
    void whatIsNotInTheTableIsAFaultForAPersonToLookAt() {
        DriverException error = CephErrno.failure(-999, "df in cluster lab", "");
        assertInstanceOf(DriverException.BackendFault.class, error);
        assertEquals("df in cluster lab failed: error 999", error.getMessage());
    }

    @Test
    void detailsAreOneLineAndNotLong() {
        String detail = "Traceback:\n  File \"x\"\r\n\tboom " + "x".repeat(1000);
        String message = String.valueOf(CephErrno.failure(-22, "w", detail).getMessage());
        assertTrue(message.startsWith("w failed: EINVAL: Traceback:   File \"x\" "), message);
        assertFalse(message.contains("\n"));
        assertTrue(message.length() < 350, message);
    }
}
