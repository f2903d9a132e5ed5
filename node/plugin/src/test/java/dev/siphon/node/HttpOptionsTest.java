package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.server.OpsAddress;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.ParameterException;

final class HttpOptionsTest {
    private static final List<String> ALL = List.of(
            "--http-port=9443",
            "--http-tls-cert=/tls/tls.crt",
            "--http-tls-key=/tls/tls.key",
            "--http-token-file=/t/t");

    private static HttpConfig read(List<String> flags) {
        return NodeFlags.read(flags).http();
    }

    @Test
    void rootHasASocketInTheStateDirectoryAndNobodyIsServedByTcp() {
        HttpConfig config = read(List.of("--state-dir=/var/state"));
        assertEquals(Path.of("/var/state/http.sock"), config.socket().path());
        assertTrue(config.remote().isEmpty());
        assertEquals(
                Path.of("/run/other.sock"),
                read(List.of("--http-socket=/run/other.sock")).socket().path());
    }

    @Test
    void allFourFlagsServeByTcp() {
        HttpConfig.Remote remote = read(ALL).remote().orElseThrow();
        assertEquals(new OpsAddress("0.0.0.0", 9443), remote.address());
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void threeOfThemAreTooFew(int without) {
        List<String> three =
                ALL.stream().filter(each -> !each.equals(ALL.get(without))).toList();
        ParameterException refused = assertThrows(ParameterException.class, () -> read(three));
        assertTrue(String.valueOf(refused.getMessage()).contains("given together or not at all"), refused::getMessage);
    }

    @Test
    void aPortIsOne() {
        ParameterException refused = assertThrows(
                ParameterException.class,
                () -> read(
                        ALL.stream().map(each -> each.replace("9443", "70000")).toList()));
        assertTrue(String.valueOf(refused.getMessage()).contains("--http-port: port 70000"), refused::getMessage);
    }
}
