package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.LDAPConnection;
import com.unboundid.ldap.sdk.controls.ManageDsaITRequestControl;
import com.unboundid.util.LDAPSDKException;
import dev.siphon.controller.identity.AccountDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/// The lab's OpenLDAP; `e2e/lab` gives its address. It has 1,000 accounts, groups of names below ou=groups, groups
/// of DNs below ou=teams, and Active Directory entries below ou=ad.
public final class LabDirectory {
    static final String BASE = environment("LDAP_BASE_DN");
    static final String PLAIN = environment("LDAP_URI");
    static final String TLS = environment("LDAP_URI_TLS");

    static final int PORT = 389;
    static final int TLS_PORT = 636;

    private LabDirectory() {}

    /// Returns a configuration for groups of names.
    ///
    /// @param more further fields of the file, each with a comma before it, or ""
    static LdapConfig config(List<String> servers, String more) {
        return config(servers, environment("LDAP_CA"), more, groups("rfc2307", "groups", ""));
    }

    /// Returns a configuration that trusts another CA.
    static LdapConfig withCa(String server, String file) {
        return config(
                List.of(server), environment("LDAP_CA").replace("ca.pem", file), "", groups("rfc2307", "groups", ""));
    }

    /// Returns a configuration for groups of DNs.
    ///
    /// @param account further fields of `accounts`
    static LdapConfig bis(String account) {
        return config(List.of(PLAIN), environment("LDAP_CA"), "", groups("rfc2307bis", "teams", account));
    }

    /// Returns a configuration for the entries in Active Directory form.
    static LdapConfig activeDirectory() {
        return config(List.of(TLS), environment("LDAP_CA"), "", """
                "preset": "active-directory",
                "accounts": {"base": "ou=ad,%1$s", "filter": "(objectClass=user)"},
                "groups": {"base": "ou=ad,%1$s"}""".formatted(BASE));
    }

    private static String groups(String preset, String unit, String account) {
        return """
                "preset": "%2$s",
                "accounts": {"base": "ou=people,%1$s", "allowance": "siphonAllowance"%4$s},
                "groups": {"base": "ou=%3$s,%1$s", "allowance": "siphonAllowance"}""".formatted(BASE, preset, unit, account);
    }

    private static LdapConfig config(List<String> servers, String ca, String more, String kind) {
        return LdapConfigFile.parse(Path.of("lab.json"), """
                {"servers": [%s], "caFile": "%s", "bindDn": "%s", "passwordFile": "%s", %s%s}
                """.formatted(
                        servers.stream().map(it -> "\"" + it + "\"").collect(Collectors.joining(", ")),
                        ca,
                        environment("LDAP_BIND_DN"),
                        environment("LDAP_PASSWORD_FILE"),
                        kind,
                        more));
    }

    /// Returns a directory without a cache, over `connections`.
    static AccountDirectory uncached(LdapConfig config, LdapConnections connections) {
        return new LdapDirectory(connections, config);
    }

    /// Runs a test with a directory without a cache.
    public static void with(Consumer<AccountDirectory> test) {
        LdapConfig config = config(List.of(PLAIN), "");
        try (LdapConnections connections = LdapConnections.open(config)) {
            test.accept(uncached(config, connections));
        }
    }

    /// Returns the password of Siphon's own account.
    static String password() {
        return read(environment("LDAP_PASSWORD_FILE"));
    }

    /// A change by the administrator.
    @FunctionalInterface
    interface Change {
        void with(LDAPConnection connection) throws LDAPSDKException;
    }

    /// Changes the directory as its administrator.
    static void change(Change change) {
        try (LDAPConnection connection = new LDAPConnection(
                ServerTrust.context(Optional.of(Path.of(environment("LDAP_CA"))))
                        .getSocketFactory(),
                "127.0.0.1",
                TLS_PORT,
                environment("LDAP_ADMIN_DN"),
                read(environment("LDAP_ADMIN_PASSWORD_FILE")))) {
            change.with(connection);
        } catch (LDAPSDKException e) {
            throw new IllegalStateException(e);
        }
    }

    /// Adds an account. `name` is its uid; `rdn` has the special characters of a DN escaped.
    public static String addAccount(String rdn, String name, long uid, String... more) {
        String dn = rdn + ",ou=people," + BASE;
        List<String> lines = new java.util.ArrayList<>(List.of(
                "dn: " + dn,
                "objectClass: inetOrgPerson",
                "objectClass: posixAccount",
                "objectClass: siphonAccount",
                "uid: " + name,
                "cn: " + name,
                "sn: " + name,
                "homeDirectory: /home",
                "uidNumber: " + uid,
                "gidNumber: 20001"));
        lines.addAll(List.of(more));
        change(connection -> connection.add(lines.toArray(String[]::new)));
        return dn;
    }

    /// Removes an entry.
    public static void remove(String dn) {
        change(connection -> {
            var request = new com.unboundid.ldap.sdk.DeleteRequest(dn);
            request.addControl(new ManageDsaITRequestControl());
            connection.delete(request);
        });
    }

    private static String read(String file) {
        try {
            return Files.readString(Path.of(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String environment(String name) {
        return Objects.requireNonNull(System.getenv(name), name + " is not set: run inside the lab");
    }
}
