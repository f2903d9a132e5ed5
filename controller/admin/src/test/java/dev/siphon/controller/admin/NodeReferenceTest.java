package dev.siphon.controller.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.controller.key.ClientSession;
import dev.siphon.csi.DriverException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeReferenceTest {
    @ParameterizedTest
    @CsvSource({
        // reference, host, address, whether it matches
        "n1, n1, 10.0.0.1, true",
        "n1, n2, 10.0.0.1, false",
        "n1, n11, 10.0.0.1, false",
        "n1@10.0.0.1, n1, 10.0.0.9, true",
        "n1@10.0.0.1, liar, 10.0.0.1, true",
        "n1@10.0.0.1, n2, 10.0.0.11, false",
        "10.0.0.1, n2, 10.0.0.1, true",
        "10.0.0.1, 10.0.0.1, 10.0.0.2, false",
        "fd00::1, n2, fd00::1, true",
        "FD00:0:0::0001, n2, fd00::1, true",
        "n1@fd00:0:0:0:0:0:0:1, n2, fd00::1, true",
        "::ffff:10.0.0.1, n2, 10.0.0.1, true"
    })
    void aSessionIsThereByItsHostsNameOrItsAddress(String place, String host, String address, boolean there) {
        assertEquals(there, NodeReference.parse(place).test(new ClientSession(1, 2, "siphon.x", host, address)));
    }

    @Test
    void whatIsNoNodeIsRefused() {
        for (String text : new String[] {
            "",
            "a b",
            "n1@",
            "n1@x",
            "../n",
            "999.999.1.1",
            "n1@999.999.1.1",
            "10.213.027.002",
            "10.1",
            "1",
            "1.2.3.4.5",
            "fd00::1::2",
            "n1@::::"
        }) {
            assertThrows(DriverException.InvalidRequest.class, () -> NodeReference.parse(text), text);
        }
    }
}
