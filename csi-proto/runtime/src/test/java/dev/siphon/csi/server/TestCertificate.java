package dev.siphon.csi.server;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/// A self-signed certificate for 127.0.0.1, created by the JDK's keytool.
public record TestCertificate(KeyStore store) {
    private static final String PASSWORD = "changeit";

    /// Creates a certificate.
    ///
    /// @param directory for the file that keytool writes
    public static TestCertificate create(Path directory) throws IOException, GeneralSecurityException {
        Path file = directory.resolve("made.p12");
        Files.deleteIfExists(file);
        Process keytool = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "a",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=siphon",
                        "-ext",
                        "san=ip:127.0.0.1",
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        PASSWORD,
                        "-keystore",
                        file.toString()))
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!Files.exists(file)) {
            throw new AssertionError(said);
        }
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD.toCharArray());
        }
        return new TestCertificate(store);
    }

    /// Writes certificate and key as PEM.
    public void write(Path certificate, Path key) throws IOException, GeneralSecurityException {
        Files.writeString(
                certificate, pem("CERTIFICATE", store.getCertificate("a").getEncoded()));
        Files.writeString(
                key,
                pem("PRIVATE KEY", store.getKey("a", PASSWORD.toCharArray()).getEncoded()));
    }

    private static String pem(String what, byte[] bytes) {
        return "-----BEGIN " + what + "-----\n" + Base64.getMimeEncoder().encodeToString(bytes) + "\n-----END " + what
                + "-----\n";
    }

    /// Returns a TLS context that trusts only this certificate.
    SSLContext trusting() throws GeneralSecurityException, IOException {
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, new char[0]);
        trusted.setCertificateEntry("a", store.getCertificate("a"));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }
}
