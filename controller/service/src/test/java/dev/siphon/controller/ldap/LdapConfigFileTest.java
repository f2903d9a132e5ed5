package dev.siphon.controller.ldap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.config.JsonFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class LdapConfigFileTest {
    private static final Path FILE = Path.of("directory.json");
    private static final String LEAST = "{\"servers\": [\"ldaps://one\"], \"base\": \"dc=a\"";

    @TempDir
    private Path folder = Path.of("");

    private static LdapConfig parse(String text) {
        return LdapConfigFile.parse(FILE, text);
    }

    private static String refusal(String text) {
        return String.valueOf(
                assertThrows(JsonFile.Invalid.class, () -> parse(text)).getMessage());
    }

    @Test
    void theLeastThatIsNeededHasDefaultsForTheRest() {
        LdapConfig config = parse(LEAST + "}");
        assertEquals(List.of(new LdapServer("one", 636, LdapServer.Protection.TLS)), config.servers());
        assertEquals(Optional.empty(), config.caFile());
        assertEquals(Optional.empty(), config.bind());
        assertEquals("dc=a", config.accounts().base().toString());
        assertEquals("(objectClass=posixAccount)", config.accounts().filter().toString());
        assertEquals("uid", config.accounts().name());
        assertEquals("entryUUID", config.accounts().id());
        assertEquals("uidNumber", config.accounts().uid());
        assertEquals("gidNumber", config.accounts().gid());
        assertEquals(Optional.empty(), config.accounts().allowance());
        assertEquals(1000, config.accounts().lowestUid());
        assertEquals("dc=a", config.groups().base().toString());
        assertEquals("(objectClass=posixGroup)", config.groups().filter().toString());
        assertEquals("cn", config.groups().name());
        assertEquals("memberUid", config.groups().members());
        assertEquals(LdapConfig.Membership.NAMES, config.groups().membership());
        assertEquals(new LdapConfig.Limits(Duration.ofSeconds(5), 8, 500), config.limits());
        assertEquals(Duration.ofSeconds(60), config.cache().fresh());
        assertEquals(Duration.ofHours(1), config.cache().stale());
        assertEquals(10_000, config.cache().entries());
        assertEquals(Duration.ofSeconds(5), config.cache().patience());
    }

    @ParameterizedTest(name = "{0}: accounts by {1}, groups list {3} as {4}")
    @CsvSource({
        "rfc2307, uid, entryUUID, memberUid, NAMES",
        "rfc2307bis, uid, entryUUID, member, DNS",
        "active-directory, sAMAccountName, objectGUID, member, DNS"
    })
    void presetsDiffer(String preset, String name, String id, String members, LdapConfig.Membership membership) {
        LdapConfig config = parse(LEAST + ", \"preset\": \"" + preset + "\"}");
        assertEquals(name, config.accounts().name());
        assertEquals(id, config.accounts().id());
        assertEquals(id, config.groups().id());
        assertEquals(members, config.groups().members());
        assertEquals(membership, config.groups().membership());
        assertEquals("uidNumber", config.accounts().uid());
    }

    @Test
    void everythingCanBeSet() throws IOException {
        Path password = Files.writeString(folder.resolve("password"), "secret\n");
        Files.setPosixFilePermissions(password, PosixFilePermissions.fromString("rw-------"));
        LdapConfig config = parse("""
                {"preset": "rfc2307bis",
                 "servers": ["ldap://one", "ldap://[::1]:3389", "ldaps://two:1636"],
                 "bindDn": "cn=siphon,dc=a", "passwordFile": "%s", "base": "dc=a",
                 "accounts": {"base": "ou=p,dc=a", "filter": "(&(objectClass=x)(!(shadow=1)))", "name": "n", "id": "i",
                              "uid": "u", "gid": "g", "allowance": "quota",
                              "lowestUid": 5000},
                 "groups": {"base": "ou=g,dc=a", "filter": "(objectClass=y)", "name": "n2", "id": "i2", "gid": "g2",
                            "members": "m", "membership": "names", "allowance": "quota2"},
                 "timeoutSeconds": 9, "connections": 3, "pageSize": 100,
                 "cache": {"freshSeconds": 1, "staleSeconds": 2, "entries": 3}}
                """.formatted(password));
        assertEquals(
                List.of(
                        new LdapServer("one", 389, LdapServer.Protection.START_TLS),
                        new LdapServer("::1", 3389, LdapServer.Protection.START_TLS),
                        new LdapServer("two", 1636, LdapServer.Protection.TLS)),
                config.servers());
        assertEquals("cn=siphon,dc=a", config.bind().orElseThrow().dn().toString());
        assertEquals(
                "(&(objectClass=x)(!(shadow=1)))", config.accounts().filter().toString());
        assertEquals("ou=p,dc=a", config.accounts().base().toString());
        assertEquals(5000, config.accounts().lowestUid());
        assertEquals(Optional.of("quota"), config.accounts().allowance());
        assertEquals(LdapConfig.Membership.NAMES, config.groups().membership());
        assertEquals(Optional.of("quota2"), config.groups().allowance());
        assertEquals(new LdapConfig.Limits(Duration.ofSeconds(9), 3, 100), config.limits());
        assertEquals(Duration.ofSeconds(2), config.cache().stale());
        assertEquals(Duration.ofSeconds(9), config.cache().patience());
        assertFalse(config.toString().contains("secret"), config.toString());
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "\"server\": []|\"server\" is not known; the nearest known one is \"servers\"",
                "\"accounts\": {\"uidnumber\": \"x\"}|accounts.\"uidnumber\" is not known",
                "\"groups\": {\"member\": \"x\"}|nearest known one is \"members\"",
                "\"cache\": {\"fresh\": 1}|cache.\"fresh\" is not known",
                "\"preset\": \"rfc2308\"|preset \"rfc2308\" is not known; the nearest is \"rfc2307\"",
                "\"preset\": 1|preset must be a string",
                "\"tls\": \"off\"|tls \"off\" must be \"required\" or \"none\"",
                "\"tls\": \"none\"|is protected by TLS, but \"tls\" is \"none\"",
                "\"caFile\": \"ca.pem\"|caFile \"ca.pem\" must be an absolute path",
                "\"caFile\": \"/nowhere/ca.pem\"|caFile /nowhere/ca.pem cannot be used",
                "\"bindDn\": \"cn=a\"|bindDn and passwordFile go together",
                "\"bindDn\": \"a\"|bindDn \"a\" is not a DN",
                "\"passwordFile\": \"/nowhere/password\"|passwordFile /nowhere/password is not a file",
                "\"accounts\": []|accounts must be an object",
                "\"accounts\": {\"filter\": \"(uid=\"}|accounts.filter \"(uid=\" is not a filter",
                "\"accounts\": {\"name\": \"u d\"}|accounts.name \"u d\" is not the name of an attribute",
                "\"accounts\": {\"name\": \"\"}|accounts.name must be a string that is not empty",
                "\"accounts\": {\"lowestUid\": 0}|accounts.lowestUid must be a whole number from 1",
                "\"groups\": {\"membership\": \"dn\"}|groups.membership \"dn\" must be \"names\" or \"dns\"",
                "\"timeoutSeconds\": 0|timeoutSeconds must be a whole number from 1 to 60",
                "\"timeoutSeconds\": 1.5|timeoutSeconds must be a whole number",
                "\"connections\": \"8\"|connections must be a whole number",
                "\"connections\": 1e400|connections must be a whole number",
                "\"cache\": {\"freshSeconds\": 10, \"staleSeconds\": 5}|cache.staleSeconds must not be smaller"
            })
    void whatIsWrongIsSaid(String field, String message) {
        String said = refusal(LEAST + ", " + field + "}");
        assertTrue(said.startsWith("directory file directory.json: "), said);
        assertTrue(said.contains(message), said);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "one",
        "http://one",
        "ldap://",
        "ldap://user@one",
        "ldap://one/dc=a",
        "ldap://one?x",
        "ldap://one#x",
        "ldapi:///run/ldapi",
        "ldap://one:x",
        "'ldap://o ne'"
    })
    void whatIsNoServerIsRefused(String server) {
        String said = refusal("{\"servers\": [\"" + server + "\"], \"base\": \"dc=a\"}");
        assertTrue(said.contains("servers \"" + server + "\""), said);
    }

    @Test
    void allThatIsWrongIsSaidAtOnce() {
        String said = refusal("{\"serverz\": 1, \"timeoutSeconds\": -1}");
        for (String part : List.of("serverz", "servers must list", "timeoutSeconds", "accounts.base is needed")) {
            assertTrue(said.contains(part), said);
        }
    }

    @Test
    void whatIsNoJsonIsRefused() {
        assertTrue(refusal("{").contains("is not JSON"));
        assertTrue(refusal("[]").contains("must be an object"));
        assertThrows(JsonFile.Invalid.class, () -> LdapConfigFile.read(folder.resolve("missing")));
    }

    @Test
    void aPasswordThatOthersCanReadIsRefused() throws IOException {
        Path password = Files.writeString(folder.resolve("password"), "secret");
        for (String open : List.of("rw-rw----", "rw----r--", "rw--w----", "rwxrwxrwx")) {
            Files.setPosixFilePermissions(password, PosixFilePermissions.fromString(open));
            String said = refusal(LEAST + ", \"bindDn\": \"cn=a\", \"passwordFile\": \"" + password + "\"}");
            assertTrue(said.contains("chmod 0600"), said);
            assertFalse(said.contains("secret"), said);
        }
        Files.writeString(password, "\n");
        Files.setPosixFilePermissions(password, PosixFilePermissions.fromString("r--------"));
        assertTrue(refusal(LEAST + ", \"bindDn\": \"cn=a\", \"passwordFile\": \"" + password + "\"}")
                .contains("is empty"));
    }

    @Test
    void aPasswordNeedsAProtectedConnection() {
        String said =
                refusal("{\"servers\": [\"ldap://one\"], \"base\": \"dc=a\", \"tls\": \"none\", \"bindDn\": \"cn=a\"}");
        assertTrue(said.contains("would send the password"), said);
    }
}
