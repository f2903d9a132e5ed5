package dev.siphon.node.fetch;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.fuzz.ParserFuzz;
import java.net.http.HttpRequest;
import org.junit.jupiter.api.Test;

/// Fuzzes addresses that a server redirects to.
final class AddressParsingFuzzTest {
    @Test
    void redirects() {
        WebAddress from = WebAddress.parse("http://example.org:8443/a/b?c=d");
        ParserFuzz.of(
                        "redirects",
                        ParserFuzz.texts("https://example.org/%20x?y#z", "../c", "//[fd00::1]:80/x", "?q", "http"),
                        bytes -> {
                            WebAddress to = from.redirected(ParserFuzz.text(bytes));
                            HttpRequest.newBuilder(to.uri()).build();
                            var _ = to.shown().length();
                        },
                        DriverException.InvalidRequest.class,
                        DriverException.AccessDenied.class,
                        DriverException.BackendFault.class)
                .run();
    }
}
