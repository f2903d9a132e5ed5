package dev.siphon.csi.server;

import dev.siphon.csi.DriverException;
import io.grpc.netty.shaded.io.netty.channel.Channel;
import io.grpc.netty.shaded.io.netty.channel.ChannelHandler;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContextBuilder;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.MessageDigest;
import java.util.Optional;

/// Secures an [HttpServer] on TCP: accepts only TLS, and only requests with the right token. The files may be
/// replaced at any time. If a new certificate cannot be used, the last one stays in use.
public final class BearerTokenAuth implements HttpAuth {
    /// A shorter token could be guessed.
    private static final int MIN_TOKEN_CHARS = 32;

    private final Path certificate;
    private final Path key;
    private final Path token;
    private Optional<Loaded> loaded = Optional.empty();

    private record Loaded(SslContext context, FileTime certificate, FileTime key) {}

    /// @param certificate the server's certificate, with the chain that signed it (PEM)
    /// @param key its private key (PKCS #8, PEM)
    /// @param token a file with at least 32 characters, not counting white space around them
    public BearerTokenAuth(Path certificate, Path key, Path token) {
        this.certificate = certificate;
        this.key = key;
        this.token = token;
    }

    /// Checks the files.
    ///
    /// @throws StartFailure if one cannot be used
    void check() {
        try {
            load();
            secret();
        } catch (IOException | IllegalArgumentException e) {
            throw new StartFailure("cannot serve HTTPS with " + certificate + " and its key " + key, e);
        } catch (DriverException e) {
            throw new StartFailure("cannot serve HTTP: " + e.getMessage(), e);
        }
    }

    private synchronized SslContext load() throws IOException {
        FileTime certificateTime = Files.getLastModifiedTime(certificate);
        FileTime keyTime = Files.getLastModifiedTime(key);
        Optional<Loaded> current = loaded.filter(
                last -> last.certificate().equals(certificateTime) && last.key().equals(keyTime));
        if (current.isEmpty()) {
            SslContext context = SslContextBuilder.forServer(certificate.toFile(), key.toFile())
                    .sslProvider(SslProvider.JDK)
                    .protocols("TLSv1.3", "TLSv1.2")
                    .build();
            current = Optional.of(new Loaded(context, certificateTime, keyTime));
            loaded = current;
        }
        return current.orElseThrow().context();
    }

    /// Returns the TLS handler of a new connection.
    ChannelHandler tls(Channel connection) {
        SslContext context;
        try {
            context = load();
        } catch (IOException | IllegalArgumentException e) {
            context = last().orElseThrow(() -> new IllegalStateException("no certificate", e));
        }
        return context.newHandler(connection.alloc());
    }

    private synchronized Optional<SslContext> last() {
        return loaded.map(Loaded::context);
    }

    /// Checks whether an `Authorization` header holds the token.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the token cannot be read
    @Override
    public boolean admits(HttpCall call, Optional<String> authorization) {
        byte[] wanted = secret();
        return HttpAuth.token(authorization)
                .map(value -> value.getBytes(StandardCharsets.UTF_8))
                // in constant time, which does not reveal where they differ
                .filter(given -> MessageDigest.isEqual(wanted, given))
                .isPresent();
    }

    private byte[] secret() {
        try {
            String text = Files.readString(token).strip();
            if (text.length() < MIN_TOKEN_CHARS) {
                throw new DriverException.BackendUnavailable(
                        "the token in " + token + " has fewer than " + MIN_TOKEN_CHARS + " characters");
            }
            return text.getBytes(StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable("the token cannot be read: " + e, e);
        }
    }
}
