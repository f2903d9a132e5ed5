package dev.siphon.node.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import jnr.constants.platform.Errno;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ErrnoExceptionTest {
    /// If two names share a number, the table has the one that callers must use.
    @ParameterizedTest
    @CsvSource({
        "1, EPERM",
        "2, ENOENT",
        "5, EIO",
        "11, EAGAIN",
        "13, EACCES",
        "16, EBUSY",
        "20, ENOTDIR",
        "40, ELOOP",
        "61, ENODATA",
        "95, ENOTSUP",
        "107, ENOTCONN",
        "108, ESHUTDOWN",
        "110, ETIMEDOUT",
        "116, ESTALE",
        "122, EDQUOT"
    })
    void numbersHaveTheNamesOfLinux(int number, Errno errno) {
        assertEquals(errno, new ErrnoException("call", number).errno());
    }

    @Test
    void theMessageNamesCallAndError() {
        String message = String.valueOf(new ErrnoException("mount", 13).getMessage());
        assertTrue(message.contains("mount") && message.contains("EACCES"), message);
    }
}
