package dev.siphon.node.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.csi.DriverException;
import java.net.InetAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Where a connection may go.
final class AddressRulesTest {
    private static final AddressRules NONE_ALLOWED = new AddressRules(false, List.of());

    private static List<InetAddress> permitted(AddressRules rules, boolean isEncrypted, String... addresses) {
        return rules.permitted(
                "host",
                isEncrypted,
                List.of(addresses).stream().map(InetAddress::ofLiteral).toList());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0.0",
                "10.1.2.3",
                "100.64.0.1",
                "127.0.0.1",
                "127.255.0.1",
                "169.254.169.254",
                "172.31.255.255",
                "192.168.0.1",
                "224.0.0.1",
                "255.255.255.255",
                "::",
                "::1",
                "::127.0.0.1",
                "::ffff:127.0.0.1",
                "::ffff:10.0.0.1",
                "64:ff9b::7f00:1",
                "2002:7f00:1::1",
                "fd00::1",
                "fe80::1",
                "fec0::1",
                "ff02::1"
            })
    void privateAddressesAreRefused(String address) {
        FetchFailure failure = assertThrows(FetchFailure.class, () -> permitted(NONE_ALLOWED, true, address));
        assertEquals(FetchFailure.Reason.FORBIDDEN_ADDRESS, failure.reason());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"1.1.1.1", "172.15.0.1", "172.32.0.1", "192.167.0.1", "223.255.0.1", "2a00::1", "2606:4700::1"})
    void publicAddressesAreAllowedWithEncryption(String address) {
        assertEquals(1, permitted(NONE_ALLOWED, true, address).size());
        assertThrows(FetchFailure.class, () -> permitted(NONE_ALLOWED, false, address));
        AddressRules rules = new AddressRules(false, List.of(AddressRange.parse(address)));
        assertEquals(1, permitted(rules, false, address).size());
    }

    @Test
    void ofSeveralAddressesOnlyThePublicOnesAreUsed() {
        assertEquals(List.of(InetAddress.ofLiteral("1.1.1.1")), permitted(NONE_ALLOWED, true, "10.0.0.1", "1.1.1.1"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/x", "host/8", "fd00::/129"})
    void whatIsNoRangeIsRefused(String text) {
        assertThrows(DriverException.InvalidRequest.class, () -> AddressRange.parse(text));
    }
}
