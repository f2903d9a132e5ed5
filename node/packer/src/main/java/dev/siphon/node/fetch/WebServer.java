package dev.siphon.node.fetch;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.apache.hc.client5.http.DnsResolver;
import org.apache.hc.client5.http.SystemDefaultDnsResolver;
import org.apache.hc.client5.http.classic.methods.HttpGet;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.client5.http.ssl.DefaultClientTlsStrategy;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.util.Timeout;

/// Requests files, or the rest of one. Not the JDK's client: that resolves names by itself, and only a client that
/// is told where to connect cannot be led elsewhere by a name that changes between check and use.
final class WebServer implements AutoCloseable {
    private static final int MAX_REDIRECTS = 10;
    /// Connections at the same time, for a bucket's objects.
    private static final int MAX_CONNECTIONS = 16;

    private final FetchLimits limits;
    private final StallTimer timer = new StallTimer();
    private final CloseableHttpClient encrypted;
    private final CloseableHttpClient plain;

    WebServer(FetchLimits limits, AddressRules rules) {
        this.limits = limits;
        SSLContext tls = rules.authorities().context();
        encrypted = client(limits, rules, tls, true);
        plain = client(limits, rules, tls, false);
    }

    private static CloseableHttpClient client(
            FetchLimits limits, AddressRules rules, SSLContext tls, boolean isEncrypted) {
        Timeout stall = Timeout.of(limits.stall());
        return HttpClients.custom()
                .setConnectionManager(PoolingHttpClientConnectionManagerBuilder.create()
                        .setTlsSocketStrategy(new DefaultClientTlsStrategy(tls))
                        .setDnsResolver(new CheckedResolver(rules, isEncrypted))
                        .setDefaultConnectionConfig(ConnectionConfig.custom()
                                .setConnectTimeout(Timeout.of(limits.connect()))
                                .setSocketTimeout(stall)
                                .build())
                        .setMaxConnTotal(MAX_CONNECTIONS)
                        .setMaxConnPerRoute(MAX_CONNECTIONS)
                        .build())
                .setDefaultRequestConfig(
                        RequestConfig.custom().setResponseTimeout(stall).build())
                .disableRedirectHandling()
                .disableAutomaticRetries()
                .disableContentCompression()
                .disableCookieManagement()
                .disableAuthCaching()
                .build();
    }

    /// Resolves a name, once for each connection, to the addresses that are permitted; also those written as numbers.
    private record CheckedResolver(AddressRules rules, boolean isEncrypted) implements DnsResolver {
        @Override
        public InetAddress[] resolve(String host) throws UnknownHostException {
            InetAddress[] found = SystemDefaultDnsResolver.INSTANCE.resolve(host);
            return rules.permitted(host, isEncrypted, List.of(found)).toArray(InetAddress[]::new);
        }

        @Override
        public String resolveCanonicalHostname(String host) {
            return host;
        }
    }

    /// Returns the response to a request for `address` from byte `from` on, if the server still has the version
    /// `validator`; for the whole file if `from` is 0. Follows redirects; another host does not get `key`.
    ///
    /// @throws DriverException NotFound (NOT_FOUND), AccessDenied (PERMISSION_DENIED), BackendFault (INTERNAL) if
    ///     the server's status is final
    /// @throws FetchFailure ForbiddenAddress
    /// @throws IOException if a retry may help
    WebResponse get(WebAddress address, Authorization key, long from, String validator) throws IOException {
        WebAddress at = address;
        for (int redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
            Map<String, String> headers = new HashMap<>();
            if (from > 0) {
                headers.put("Range", "bytes=" + from + "-");
                headers.put("If-Range", validator);
            }
            if (!key.equals(Authorization.NONE) && at.isSameServer(address)) {
                headers.put("Authorization", key.header());
            }
            WebResponse response = send(at, headers);
            boolean taken = false;
            try {
                Optional<String> location = redirect(response);
                if (location.isEmpty()) {
                    check(at, response.status());
                    taken = true;
                    return response;
                }
                at = at.redirected(location.get());
            } finally {
                if (!taken) {
                    response.close();
                }
            }
        }
        throw new DriverException.BackendFault(
                address.shown() + " redirects more than " + MAX_REDIRECTS + " times, at last to " + at.shown());
    }

    /// Sends one request.
    ///
    /// @throws FetchFailure ForbiddenAddress
    /// @throws IOException if the server does not answer in time, or not in HTTP
    WebResponse send(WebAddress address, Map<String, String> headers) throws IOException {
        try {
            HttpGet request = new HttpGet(address.uri());
            request.setHeader("Accept-Encoding", "identity");
            headers.forEach(request::setHeader);
            return new WebResponse(
                    request,
                    timer.within(
                            limits.connect().plus(limits.stall()),
                            request,
                            () -> (address.isEncrypted() ? encrypted : plain).executeOpen(null, request, null)),
                    timer,
                    limits,
                    address.shown());
        } catch (UnknownHostException e) {
            throw new IOException("its host name is unknown", e);
        } catch (SSLHandshakeException | SSLPeerUnverifiedException e) {
            throw new IOException(
                    "its certificate is not accepted (" + QuotedText.of(String.valueOf(e.getMessage()))
                            + "): it has to name the server, and a public authority has to vouch for it, or one that the"
                            + " administrator has added",
                    e);
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw new IOException("its answer is not HTTP: " + QuotedText.of(String.valueOf(e.getMessage())), e);
        }
    }

    private static Optional<String> redirect(WebResponse response) {
        return switch (response.status()) {
            case 301, 302, 303, 307, 308 -> response.header("Location");
            default -> Optional.empty();
        };
    }

    /// @throws DriverException as [#get]
    /// @throws IOException if a retry may help
    static void check(WebAddress at, int status) throws IOException {
        switch (status) {
            case 200, 206, 412, 416 -> {
                // the caller handles these
            }
            case 401, 403, 407 ->
                throw new DriverException.AccessDenied(at.shown() + " refuses access: status " + status);
            case 404, 410 -> throw new DriverException.NotFound("there is no " + at.shown() + ": status " + status);
            default -> {
                if (status >= 500 || status == 408 || status == 429) {
                    throw new IOException("status " + status);
                }
                throw new DriverException.BackendFault(at.shown() + " answers with status " + status);
            }
        }
    }

    @Override
    public void close() {
        timer.close();
        encrypted.close(CloseMode.IMMEDIATE);
        plain.close(CloseMode.IMMEDIATE);
    }
}
