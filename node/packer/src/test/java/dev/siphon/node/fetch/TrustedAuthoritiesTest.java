package dev.siphon.node.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.Programs;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Servers whose certificate is of a private authority.
final class TrustedAuthoritiesTest {
    private static final byte[] CONTENT = "content".getBytes(StandardCharsets.UTF_8);
    private static final String PASSWORD = "changeit";
    private static final FetchLimits SHORT =
            new FetchLimits(Duration.ofSeconds(5), Duration.ofSeconds(5), 1, Duration.ofMillis(1), 0);

    @TempDir
    private Path folder = Path.of("");

    private void keytool(String store, String... words) {
        var _ = Programs.run(Stream.of(
                        Stream.of(System.getProperty("java.home") + "/bin/keytool"),
                        Stream.of(words),
                        Stream.of(
                                "-keystore",
                                folder.resolve(store).toString(),
                                "-storetype",
                                "PKCS12",
                                "-storepass",
                                PASSWORD))
                .flatMap(each -> each)
                .toArray(String[]::new));
    }

    /// Makes an authority with a key that it vouches for, and returns the authority's certificate.
    private byte[] authority(String store, String host) throws IOException {
        Path pem = folder.resolve(store + ".pem");
        keytool(store, "-genkeypair", "-alias", "ca", "-dname", "CN=private", "-ext", "bc:c", "-keyalg", "EC");
        keytool(
                store,
                "-genkeypair",
                "-alias",
                "server",
                "-signer",
                "ca",
                "-dname",
                "CN=server",
                "-ext",
                "san=" + host,
                "-keyalg",
                "EC");
        keytool(store, "-exportcert", "-rfc", "-alias", "ca", "-file", pem.toString());
        keytool(store, "-delete", "-alias", "ca");
        return Files.readAllBytes(pem);
    }

    private HttpsServer serve(String store) throws IOException, GeneralSecurityException {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(folder.resolve(store))) {
            keys.load(in, PASSWORD.toCharArray());
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(keys, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        server.createContext("/file", exchange -> {
            try (exchange) {
                exchange.sendResponseHeaders(200, CONTENT.length);
                exchange.getResponseBody().write(CONTENT);
            }
        });
        server.start();
        return server;
    }

    private static void fetch(HttpsServer server, TrustedAuthorities authorities) {
        new Download(
                        new Download.Source(
                                WebAddress.parse("https://127.0.0.1:"
                                        + server.getAddress().getPort() + "/file"),
                                List.of(Digest.of(ByteBuffer.wrap(CONTENT))),
                                Authorization.NONE,
                                new AddressRules(false, List.of(AddressRange.parse("127.0.0.0/8")), authorities)),
                        new FetchedInMemory(),
                        SHORT,
                        (_, _) -> {})
                .run();
    }

    private static void assertRefused(HttpsServer server, TrustedAuthorities authorities) {
        DriverException refused =
                assertThrows(DriverException.BackendUnavailable.class, () -> fetch(server, authorities));
        assertTrue(refused.getMessage().contains("its certificate is not accepted"), refused.getMessage());
        assertTrue(refused.getMessage().contains("administrator"), refused.getMessage());
    }

    @Test
    void anAddedAuthorityVouchesForItsServersAndNoOther() throws IOException, GeneralSecurityException {
        TrustedAuthorities own = TrustedAuthorities.parse(authority("own", "ip:127.0.0.1"));
        TrustedAuthorities other = TrustedAuthorities.parse(authority("other", "ip:127.0.0.1"));
        HttpsServer server = serve("own");
        try {
            fetch(server, own);
            assertRefused(server, other);
            assertRefused(server, TrustedAuthorities.PUBLIC);
        } finally {
            server.stop(0);
        }
    }

    @Test
    void aCertificateOfAnotherNameIsRefused() throws IOException, GeneralSecurityException {
        TrustedAuthorities own = TrustedAuthorities.parse(authority("own", "dns:other.test"));
        HttpsServer server = serve("own");
        try {
            assertRefused(server, own);
        } finally {
            server.stop(0);
        }
    }

    @Test
    void publicAuthoritiesStayTrusted() throws IOException, GeneralSecurityException {
        byte[] one = authority("one", "ip:127.0.0.1");
        byte[] twice = Arrays.copyOf(one, 2 * one.length);
        System.arraycopy(one, 0, twice, one.length, one.length);
        int publicOnes = TrustedAuthorities.PUBLIC.store().size();
        assertTrue(publicOnes > 20, () -> publicOnes + " public authorities");
        assertEquals(publicOnes + 2, TrustedAuthorities.parse(twice).store().size());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "no PEM",
                "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
                "-----BEGIN CERTIFICATE-----\n"
            })
    void whatHasNoCertificatesIsRefused(String text) {
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> TrustedAuthorities.parse(text.getBytes(StandardCharsets.UTF_8)));
    }
}
