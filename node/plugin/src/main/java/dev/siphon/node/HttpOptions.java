package dev.siphon.node;

import dev.siphon.csi.server.BearerTokenAuth;
import dev.siphon.csi.server.ConfigProblems;
import dev.siphon.csi.server.OpsAddress;
import dev.siphon.csi.server.UnixEndpoint;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/// The node's flags for HTTP, for picocli's `@Mixin`.
final class HttpOptions {
    @Option(
            names = "--http-socket",
            paramLabel = "SOCKET",
            defaultValue = "${env:SIPHON_HTTP_SOCKET:-}",
            description = "The HTTP socket that tells whether a dataset is on this node's disks, for root only"
                    + " (default: http.sock in --state-dir).")
    private String socket = "";

    @Option(
            names = "--http-host",
            paramLabel = "HOST",
            defaultValue = "${env:SIPHON_HTTP_HOST:-0.0.0.0}",
            description = "The address of the same service over TCP (default: 0.0.0.0).")
    private String host = "";

    @Option(
            names = "--http-port",
            paramLabel = "PORT",
            defaultValue = "${env:SIPHON_HTTP_PORT:-0}",
            description = "Its TCP port; needs the three files below (default: 0, no service over TCP).")
    private int port;

    @Option(
            names = "--http-tls-cert",
            paramLabel = "FILE",
            defaultValue = "${env:SIPHON_HTTP_TLS_CERT:-}",
            description = "The TLS certificate for that port, with its chain (PEM).")
    private String certificate = "";

    @Option(
            names = "--http-tls-key",
            paramLabel = "FILE",
            defaultValue = "${env:SIPHON_HTTP_TLS_KEY:-}",
            description = "Its key (PKCS #8, PEM).")
    private String key = "";

    @Option(
            names = "--http-token-file",
            paramLabel = "FILE",
            defaultValue = "${env:SIPHON_HTTP_TOKEN_FILE:-}",
            description =
                    "A file with the token that requests must send as `Authorization: Bearer`: at least 32 characters.")
    private String token = "";

    /// @param state the directory of the socket by default
    ConfigProblems.ParsedValue<HttpConfig> read(ConfigProblems problems, Path state) {
        var endpoint = problems.read(
                "--http-socket",
                () -> UnixEndpoint.parse(
                        socket.isEmpty() ? state.resolve("http.sock").toString() : socket));
        var remote = problems.read("--http-port", this::remote);
        return problems.readIfNone(() -> new HttpConfig(endpoint.get(), remote.get()));
    }

    private Optional<HttpConfig.Remote> remote() {
        boolean all = Stream.of(certificate, key, token).noneMatch(String::isEmpty);
        if (port == 0 || !all) {
            boolean some = !Stream.of(certificate, key, token).allMatch(String::isEmpty);
            if (port != 0 || some) {
                throw new IllegalArgumentException("--http-port, --http-tls-cert, --http-tls-key and --http-token-file"
                        + " must be given together or not at all: TCP needs TLS and a token");
            }
            return Optional.empty();
        }
        return Optional.of(new HttpConfig.Remote(
                new OpsAddress(host, port), new BearerTokenAuth(Path.of(certificate), Path.of(key), Path.of(token))));
    }
}
