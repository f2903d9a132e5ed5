package dev.siphon.node.linux;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KernelLogTest {
    @ParameterizedTest
    @CsvSource({
        "'6,339,5140900,-;libceph: mon0 session established\n SUBSYSTEM=x', libceph: mon0 session established",
        "'3,340,5140901,-;a; b', a; b",
        "'3,340,5140901,-;', ''",
        "'', ''",
    })
    void aRecordIsItsMessage(String record, String message) {
        assertEquals(message, KernelLog.message(record));
    }

    @ParameterizedTest
    @CsvSource({
        "'6,339,5140900,-;loop7', 5140900, true",
        "'6,339,5140900,-;loop7', 5140901, false",
        "'6,339,5140900,-;loop7', -1, true",
        "'', 5140901, true",
        "'a,b;1,2,3,', 5140901, true",
    })
    void aRecordSaysWhenItWasSaid(String record, long from, boolean wanted) {
        assertEquals(wanted, KernelLog.isFrom(record, from));
    }
}
