package dev.siphon.controller.ldap;

import java.net.URI;

/// One LDAP server.
///
/// @param host a name or an address; IPv6 without brackets
/// @param port its TCP port
/// @param protection how the connection is protected
public record LdapServer(String host, int port, Protection protection) {
    private static final int PORT = 389;
    private static final int TLS_PORT = 636;

    /// How a connection is protected.
    public enum Protection {
        /// TLS from the first byte, `ldaps:`
        TLS,
        /// StartTLS before any other request (RFC 4511, 4.14)
        START_TLS,
        /// none: anyone on the path can read and change everything
        NONE
    }

    /// Parses `ldap://HOST[:PORT]` or `ldaps://HOST[:PORT]`.
    ///
    /// @param plain whether `ldap:` is used without StartTLS
    /// @throws IllegalArgumentException if the text is anything else
    static LdapServer parse(String text, boolean plain) {
        URI uri = URI.create(text);
        boolean tls = "ldaps".equals(uri.getScheme());
        String host = uri.getHost();
        if ((!tls && !"ldap".equals(uri.getScheme()))
                || host == null
                || uri.getUserInfo() != null
                || !uri.getRawPath().isEmpty()
                || uri.getRawQuery() != null
                || uri.getRawFragment() != null) {
            throw new IllegalArgumentException("must be ldap://HOST[:PORT] or ldaps://HOST[:PORT]");
        }
        if (tls && plain) {
            throw new IllegalArgumentException("is protected by TLS, but \"tls\" is \"none\"");
        }
        int port = uri.getPort() < 0 ? (tls ? TLS_PORT : PORT) : uri.getPort();
        String bare = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        return new LdapServer(bare, port, tls ? Protection.TLS : plain ? Protection.NONE : Protection.START_TLS);
    }

    @Override
    public String toString() {
        return host + ":" + port;
    }
}
