package dev.siphon.controller.ldap;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/// Decides which server certificates are trusted.
final class ServerTrust {
    private ServerTrust() {}

    /// Returns TLS that trusts only chains to a certificate in this file, or in the Java runtime's list if there is
    /// no file.
    ///
    /// @throws IllegalArgumentException if the file cannot be used
    static SSLContext context(Optional<Path> caFile) {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            if (caFile.isEmpty()) {
                context.init(null, null, null);
                return context;
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store(caFile.get()));
            context.init(null, trust.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException | IOException unusable) {
            throw new IllegalArgumentException(unusable.toString(), unusable);
        }
    }

    /// Returns the problem with the file; empty if there is none.
    static Optional<String> check(Path caFile) {
        try {
            KeyStore _ = store(caFile);
            return Optional.empty();
        } catch (GeneralSecurityException | IOException unusable) {
            return Optional.of(caFile + " cannot be used: " + unusable);
        }
    }

    private static KeyStore store(Path caFile) throws GeneralSecurityException, IOException {
        Collection<? extends Certificate> certificates;
        try (InputStream in = Files.newInputStream(caFile)) {
            certificates = CertificateFactory.getInstance("X.509").generateCertificates(in);
        }
        if (certificates.isEmpty()) {
            throw new IOException("it holds no PEM certificate");
        }
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        int count = 0;
        for (Certificate certificate : certificates) {
            store.setCertificateEntry("ca" + count++, certificate);
        }
        return store;
    }
}
