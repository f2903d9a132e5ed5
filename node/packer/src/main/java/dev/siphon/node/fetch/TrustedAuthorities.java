package dev.siphon.node.fetch;

import dev.siphon.csi.DriverException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/// The authorities that may vouch for a server: the public ones that the JDK knows, and an administrator's own.
///
/// @param own in addition to the public ones
public record TrustedAuthorities(List<Certificate> own) {
    /// The public ones alone.
    public static final TrustedAuthorities PUBLIC = new TrustedAuthorities(List.of());

    public TrustedAuthorities {
        own = List.copyOf(own);
    }

    /// Reads certificates in PEM; the public authorities stay trusted.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if there is none, or one is damaged
    public static TrustedAuthorities parse(byte[] pem) {
        try {
            List<Certificate> found = List.copyOf(
                    CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(pem)));
            if (!found.isEmpty()) {
                return new TrustedAuthorities(found);
            }
        } catch (CertificateException _) {
            // reported below
        }
        throw new DriverException.InvalidRequest(
                "the bundle of authorities has no certificate in PEM, or a damaged one: copy each with its lines BEGIN"
                        + " CERTIFICATE and END CERTIFICATE");
    }

    /// Returns a TLS context for clients.
    SSLContext context() {
        try {
            if (own.isEmpty()) {
                return SSLContext.getDefault();
            }
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(store());
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, factory.getTrustManagers(), null);
            return context;
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("the JDK lacks what TLS needs", e);
        }
    }

    /// Returns all of them, the public ones too.
    KeyStore store() throws GeneralSecurityException, IOException {
        KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        List<Certificate> all = Stream.concat(publicOnes(), own.stream()).toList();
        for (int i = 0; i < all.size(); i++) {
            trusted.setCertificateEntry(Integer.toString(i), all.get(i));
        }
        return trusted;
    }

    private static Stream<X509Certificate> publicOnes() throws GeneralSecurityException {
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init((KeyStore) null);
        return Stream.of(factory.getTrustManagers())
                .filter(X509TrustManager.class::isInstance)
                .flatMap(each -> Stream.of(((X509TrustManager) each).getAcceptedIssuers()));
    }
}
