package dev.siphon.e2e.lab;

import com.unboundid.ldap.sdk.LDAPConnection;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.Modification;
import com.unboundid.ldap.sdk.ModificationType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Objects;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/// The lab's OpenLDAP with u1 to u1000 (`lab.d/ldap/entries`), with its administrator's changes.
public final class LabLdap {
    private static final int TLS_PORT = 636;

    private LabLdap() {}

    /// Writes a file for `--directory-config`.
    ///
    /// @param more fields with a comma before each, or ""
    public static Path config(Path file, String more) {
        try {
            return Files.writeString(file, """
                    {"preset": "rfc2307", "servers": ["%2$s"], "caFile": "%3$s", "bindDn": "%4$s", "passwordFile": "%5$s",
                     "accounts": {"base": "ou=people,%1$s", "allowance": "siphonAllowance"},
                     "groups": {"base": "ou=groups,%1$s", "allowance": "siphonAllowance"}%6$s}
                    """.formatted(
                            variable("LDAP_BASE_DN"),
                            variable("LDAP_URI"),
                            variable("LDAP_CA"),
                            variable("LDAP_BIND_DN"),
                            variable("LDAP_PASSWORD_FILE"),
                            more));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns the base DN of its entries.
    public static String baseDn() {
        return variable("LDAP_BASE_DN");
    }

    /// Returns the DN that may read the directory with [#passwordFile()].
    public static String bindDn() {
        return variable("LDAP_BIND_DN");
    }

    /// Returns the file with the password of [#bindDn()].
    public static Path passwordFile() {
        return Path.of(variable("LDAP_PASSWORD_FILE"));
    }

    /// Returns the CA certificate of its TLS certificate.
    public static Path certificate() {
        return Path.of(variable("LDAP_CA"));
    }

    /// Returns the name that its certificate has for pods, which find it at the lab's address.
    public static String host() {
        return "ldap.siphon.test";
    }

    /// Adds an account whose uid and gid are `number`.
    public static void add(String name, int number) {
        change(connection -> connection.add(
                "dn: " + dn(name),
                "objectClass: inetOrgPerson",
                "objectClass: posixAccount",
                "uid: " + name,
                "cn: " + name,
                "sn: " + name,
                "homeDirectory: /home",
                "uidNumber: " + number,
                "gidNumber: " + number));
    }

    /// Renames an account.
    public static void rename(String name, String other) {
        change(connection -> connection.modifyDN(dn(name), "uid=" + other, true));
    }

    /// Sets the password with which an account may log in.
    public static void setPassword(String name, String password) {
        change(connection ->
                connection.modify(dn(name), new Modification(ModificationType.REPLACE, "userPassword", password)));
    }

    /// Removes an account.
    public static void remove(String name) {
        change(connection -> connection.delete(dn(name)));
    }

    private static String dn(String name) {
        return "uid=" + name + ",ou=people," + variable("LDAP_BASE_DN");
    }

    @FunctionalInterface
    private interface Change {
        void with(LDAPConnection connection) throws LDAPException, com.unboundid.ldif.LDIFException;
    }

    private static void change(Change change) {
        try (LDAPConnection connection = new LDAPConnection(
                trust().getSocketFactory(),
                "127.0.0.1",
                TLS_PORT,
                variable("LDAP_ADMIN_DN"),
                Files.readString(Path.of(variable("LDAP_ADMIN_PASSWORD_FILE"))))) {
            change.with(connection);
        } catch (LDAPException | com.unboundid.ldif.LDIFException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static SSLContext trust() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (var in = Files.newInputStream(Path.of(variable("LDAP_CA")))) {
            store.setCertificateEntry(
                    "ca", CertificateFactory.getInstance("X.509").generateCertificate(in));
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    private static String variable(String name) {
        return Objects.requireNonNull(System.getenv(name), name + " is not set: run inside the lab");
    }
}
