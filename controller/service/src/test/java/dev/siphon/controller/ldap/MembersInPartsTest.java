package dev.siphon.controller.ldap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.unboundid.ldap.sdk.Entry;
import com.unboundid.ldap.sdk.LDAPException;
import dev.siphon.controller.identity.Account;
import dev.siphon.csi.DriverException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A server that sends a group's members in parts, as Active Directory does (MS-ADTS, 3.1.1.3.1.3.3).
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class MembersInPartsTest {
    private static final int PART = 1_500;
    private static final int MEMBERS = 4_000;
    private static final Pattern FROM = Pattern.compile("member;range=([0-9]+)-\\*");

    /// What was asked for beside whole attributes.
    private final List<String> parts = new ArrayList<>();

    private String answer(HandmadeServer.Asked asked, boolean isStuck) throws LDAPException {
        Entry group = new Entry("cn=big,ou=groups,dc=a");
        group.addAttribute("objectClass", "group");
        group.addAttribute("sAMAccountName", "big");
        group.addAttribute("objectGUID", "0123456789abcdef");
        group.addAttribute("gidNumber", "20000");
        group.addAttribute("quota", "5Gi");
        if (asked.search().getFilter().matchesEntry(group)) {
            for (String attribute : asked.search().getAttributes()) {
                Matcher from = FROM.matcher(attribute);
                if (from.matches()) {
                    parts.add(attribute);
                    addPart(group, isStuck ? 0 : Integer.parseInt(from.group(1)));
                } else if ("member".equals(attribute)) {
                    group.addAttribute("member", new String[0]); // empty, as Active Directory has it beside a part
                    addPart(group, 0);
                }
            }
            asked.send(group);
        }
        for (int number : new int[] {0, PART - 1, PART, MEMBERS - 1, MEMBERS}) {
            Entry person = new Entry(dn(number));
            person.addAttribute("objectClass", "user");
            person.addAttribute("objectCategory", "person");
            person.addAttribute("sAMAccountName", "u" + number);
            person.addAttribute("objectGUID", "%016d".formatted(number));
            person.addAttribute("uidNumber", Integer.toString(10_000 + number));
            person.addAttribute("gidNumber", "10000");
            if (asked.search().getFilter().matchesEntry(person)) {
                asked.send(person);
            }
        }
        return "";
    }

    private static void addPart(Entry group, int from) {
        int end = Math.min(MEMBERS, from + PART);
        group.addAttribute(
                "member;range=" + from + "-" + (end == MEMBERS ? "*" : Integer.toString(end - 1)),
                IntStream.range(from, end).mapToObj(MembersInPartsTest::dn).toArray(String[]::new));
    }

    private static String dn(int number) {
        return "cn=u" + number + ",ou=people,dc=a";
    }

    private Map<String, OptionalLong> listed(boolean isStuck) throws IOException {
        try (HandmadeServer server = new HandmadeServer(asked -> answer(asked, isStuck))) {
            LdapConfig config = LdapConfigFile.parse(Path.of("directory.json"), """
                    {"preset": "active-directory", "servers": ["ldap://%s"], "tls": "none", "base": "dc=a",
                     "groups": {"allowance": "quota"}}
                    """.formatted(server.address()));
            Map<String, OptionalLong> allowances = new HashMap<>();
            try (LdapConnections connections = LdapConnections.open(config)) {
                new LdapDirectory(connections, config).accounts(account -> note(account, allowances));
            }
            return allowances;
        }
    }

    private static void note(Account account, Map<String, OptionalLong> allowances) {
        if (!account.isGroup()) {
            allowances.put(account.name(), account.allowanceBytes());
        }
    }

    @Test
    void membersOfEachPartHaveTheGroupsAllowance() throws IOException {
        OptionalLong fiveGib = OptionalLong.of(5L << 30);
        assertEquals(
                Map.of(
                        "u0", fiveGib,
                        "u1499", fiveGib,
                        "u1500", fiveGib,
                        "u3999", fiveGib,
                        "u4000", OptionalLong.empty()),
                listed(false));
        assertEquals(List.of("member;range=1500-*", "member;range=3000-*"), parts);
    }

    @Test
    void partsThatDoNotGoOnAreAFault() {
        DriverException.BackendFault fault = assertThrows(DriverException.BackendFault.class, () -> listed(true));
        assertTrue(fault.getMessage().endsWith("ends before it"), fault::getMessage);
    }
}
