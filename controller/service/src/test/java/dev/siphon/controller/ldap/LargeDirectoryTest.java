package dev.siphon.controller.ldap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.unboundid.ldap.sdk.Entry;
import com.unboundid.ldap.sdk.LDAPException;
import dev.siphon.controller.identity.Account;
import dev.siphon.csi.DriverException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Directories larger than the controller's memory, listed by a process with less memory than the controller
/// (`deploy/src/build/siphon`: 144 MiB).
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class LargeDirectoryTest {
    private static final String HEAP = "-Xmx32m";

    /// @param count the number of groups
    /// @param members the number of members per group; shared by all groups if `same`, else distinct
    /// @param allowance the allowance of each group, "" for none
    private record Groups(int count, int members, boolean same, String allowance) {
        void send(HandmadeServer.Asked asked) throws LDAPException {
            List<String> attributes = asked.search().getAttributes();
            for (int group = 0; group < count; group++) {
                Entry entry = new Entry("cn=g" + group + ",dc=a");
                entry.addAttribute("objectClass", "posixGroup");
                entry.addAttribute("cn", "g" + group);
                entry.addAttribute("entryUUID", "group-" + group);
                entry.addAttribute("gidNumber", Integer.toString(20_000 + group));
                if (!allowance.isEmpty()) {
                    entry.addAttribute("quota", allowance);
                }
                if (attributes.contains("memberUid")) {
                    int first = same ? 0 : group * members;
                    entry.addAttribute(
                            "memberUid",
                            IntStream.range(first, first + members)
                                    .mapToObj(it -> "u" + (1_000_000 + it))
                                    .toArray(String[]::new));
                }
                if (asked.search().getFilter().matchesEntry(entry)) {
                    asked.send(entry);
                }
            }
        }
    }

    private static String answer(HandmadeServer.Asked asked, Groups groups) throws LDAPException {
        groups.send(asked);
        Entry person = new Entry("uid=u1000001,dc=a");
        person.addAttribute("objectClass", "posixAccount");
        person.addAttribute("uid", "u1000001");
        person.addAttribute("entryUUID", "id-1");
        person.addAttribute("uidNumber", "10001");
        person.addAttribute("gidNumber", "10001");
        if (asked.search().getFilter().matchesEntry(person)) {
            asked.send(person);
        }
        return "";
    }

    /// Returns what a separate process prints after listing everything.
    private static String listed(Groups groups, boolean byGroup) throws Exception {
        try (HandmadeServer server = new HandmadeServer(asked -> answer(asked, groups))) {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            HEAP,
                            "-Xmn2m",
                            "-XX:+UseSerialGC",
                            "-XX:+UseCompactObjectHeaders",
                            "-XX:+ExitOnOutOfMemoryError",
                            "-cp",
                            System.getProperty("java.class.path"),
                            ListAll.class.getName(),
                            server.address().toString(),
                            byGroup ? ", \"groups\": {\"allowance\": \"quota\"}" : "")
                    .redirectErrorStream(true)
                    .start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(process.waitFor(60, TimeUnit.SECONDS), "it goes on");
            return said.strip();
        }
    }

    /// Runs in the separate process.
    static final class ListAll {
        private ListAll() {}

        /// @param arguments the server, and further fields of the configuration
        public static void main(String[] arguments) {
            LdapConfig config = LdapConfigFile.parse(
                    Path.of("directory.json"),
                    "{\"servers\": [\"ldap://" + arguments[0] + "\"], \"tls\": \"none\", \"base\": \"dc=a\""
                            + arguments[1] + "}");
            try (LdapConnections connections = LdapConnections.open(config)) {
                Map<String, Integer> kinds = new TreeMap<>();
                List<Long> allowances = new ArrayList<>();
                // like the reconciler, twice: nothing of the first round may remain in the second
                for (int round = 0; round < 2; round++) {
                    new LdapDirectory(connections, config).accounts(account -> {
                        kinds.merge(account.isGroup() ? "groups" : "people", 1, Integer::sum);
                        allowance(account, allowances);
                    });
                }
                System.out.println(kinds + " " + allowances);
            } catch (DriverException fault) {
                System.out.println(fault.getClass().getSimpleName() + " " + fault.getMessage());
            }
        }

        private static void allowance(Account account, List<Long> allowances) {
            if (!account.isGroup()) {
                account.allowanceBytes().ifPresent(allowances::add);
            }
        }
    }

    /// An entry with this many members would be refused, but members are never requested.
    @Test
    void aGroupIsLookedUpWithoutItsMembers() throws Exception {
        try (HandmadeServer server = new HandmadeServer(asked -> answer(asked, new Groups(1, 340_000, false, "4Ki")))) {
            LdapConfig config = LdapConfigFile.parse(
                    Path.of("directory.json"),
                    "{\"servers\": [\"ldap://" + server.address() + "\"], \"tls\": \"none\", \"base\": \"dc=a\"}");
            try (LdapConnections connections = LdapConnections.open(config)) {
                Account found = new LdapDirectory(connections, config)
                        .account("group:g0")
                        .orElseThrow();
                assertEquals("ldap:group:group-0:20000", found.id());
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"12, 40000, false", "12, 40000, true", "100000, 2, true"})
    void groupsWithoutAnAllowanceTakeNoMemory(int count, int members, boolean byGroup) throws Exception {
        Groups groups = new Groups(count, members, false, "");
        assertEquals("{groups=" + 2 * count + ", people=2} []", listed(groups, byGroup));
    }

    @Test
    void membersOfGroupsWithAnAllowanceTakeMemoryOnce() throws Exception {
        assertEquals("{groups=24, people=2} [4096, 4096]", listed(new Groups(12, 40_000, true, "4Ki"), true));
    }

    @ParameterizedTest
    @CsvSource({
        "12, 40000, groups with an allowance have more than",
        "1, 190000, groups with an allowance have more than",
        "1, 340000, has an entry of more than"
    })
    void moreMembersThanMemoryIsForAreAFaultAndNotTheEnd(int count, int members, String fault) throws Exception {
        String said = listed(new Groups(count, members, false, "4Ki"), true);
        assertTrue(said.startsWith("BackendFault") && said.contains(fault), said);
    }
}
