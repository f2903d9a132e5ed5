package dev.siphon.node.fetch;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;

/// An `http` or `https` address without credentials.
///
/// @param uri with a host, without user info
public record WebAddress(URI uri) {
    private static final Pattern ANY = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]*://.*", Pattern.DOTALL);

    private static final int MAX_PORT = 65_535;

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for another kind of address, or one with user
    ///     info, which process lists would expose
    public WebAddress {
        // the messages omit the address, which may contain a password
        String scheme = Objects.requireNonNullElse(uri.getScheme(), "").toLowerCase(Locale.ROOT);
        if (!scheme.equals("http") && !scheme.equals("https")) {
            throw new DriverException.InvalidRequest(
                    "an address must be http:// or https://, not " + QuotedText.of(scheme));
        }
        if (uri.getHost() == null) {
            throw new DriverException.InvalidRequest("the address has no host");
        }
        if (uri.getPort() > MAX_PORT) {
            throw new DriverException.InvalidRequest(
                    "the address at " + QuotedText.of(uri.getHost()) + " has the invalid port " + uri.getPort());
        }
        if (uri.getRawUserInfo() != null) {
            throw new DriverException.InvalidRequest("the address at " + QuotedText.of(uri.getHost())
                    + " contains a name or password, which others would see: leave it out");
        }
    }

    /// Whether `text` is an address rather than a path.
    public static boolean looksLike(String text) {
        return ANY.matcher(text).matches();
    }

    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is not a valid address
    public static WebAddress parse(String text) {
        try {
            return new WebAddress(new URI(text));
        } catch (URISyntaxException e) {
            throw new DriverException.InvalidRequest("the address is invalid: " + e.getReason());
        }
    }

    boolean isEncrypted() {
        return Objects.equals(uri.getScheme().toLowerCase(Locale.ROOT), "https");
    }

    /// Whether the other address is of the same server: what one may know, the other may.
    boolean isSameServer(WebAddress other) {
        return isEncrypted() == other.isEncrypted()
                && uri.getHost().equalsIgnoreCase(other.uri.getHost())
                && uri.getPort() == other.uri.getPort();
    }

    /// Returns the target of a redirect.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) for another kind of address
    /// @throws DriverException.AccessDenied (PERMISSION_DENIED) for a redirect from https to http, where anybody
    ///     could answer
    WebAddress redirected(String location) {
        try {
            WebAddress to = new WebAddress(uri.resolve(new URI(location)));
            if (isEncrypted() && !to.isEncrypted()) {
                throw new DriverException.AccessDenied(
                        shown() + " redirects to an address without encryption, " + to.shown());
            }
            return to;
        } catch (URISyntaxException _) {
            throw new DriverException.BackendFault(shown() + " redirects to an invalid address");
        }
    }

    /// Returns the quoted address for people, without the query, which may contain a token.
    public String shown() {
        String port = uri.getPort() < 0 ? "" : ":" + uri.getPort();
        return QuotedText.of(uri.getScheme() + "://" + uri.getHost() + port + uri.getRawPath());
    }

    @Override
    public String toString() {
        return shown();
    }
}
