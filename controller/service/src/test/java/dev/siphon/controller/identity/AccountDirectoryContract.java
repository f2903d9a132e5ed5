package dev.siphon.controller.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The contract of [AccountDirectory] for every adapter. The directory under test has the accounts u1 (10001:10001)
/// and u2 (10002:10002), and the group lab (20001) with both as members.
public abstract class AccountDirectoryContract {
    /// Names of no account, which a careless directory would match with u1 or with everybody.
    static final List<String> NOBODY = List.of(
            "",
            " ",
            "U1",
            " u1",
            "u1 ",
            "u1\n",
            "u1\0",
            "u1\0x",
            "\0u1",
            "*",
            "u*",
            "?1",
            "u1)(uid=*",
            "*)(uid=*",
            "u1)",
            "(u1)",
            "\\75\\31",
            "\\2a",
            "u1,ou=people",
            "uid=u1",
            "u1+cn=User 1",
            "\"u1\"",
            "#7531",
            "u1:x",
            ":",
            "ｕ1",
            "u１",
            "u\u00AD1",
            "u\u200B1",
            "\u202Eu1",
            "u1\u0301",
            "\uD800",
            "u1".repeat(200),
            "lab",
            "group:",
            "group:*",
            "group:LAB",
            "group:lab ",
            "group:lab\0",
            "group:lab)(cn=*",
            "group:group:lab",
            "group:u1",
            "GROUP:lab",
            "Group:lab");

    protected abstract AccountDirectory directory();

    private Account account(String name) {
        return directory().account(name).orElseThrow(() -> new AssertionError("no account " + name));
    }

    @Test
    final void anAccountHasItsNumbersAndItsGroups() {
        Account found = account("u1");
        assertEquals("u1", found.name());
        assertEquals(10_001, found.uid());
        assertEquals(10_001, found.gid());
        assertTrue(found.groups().contains("lab"), found.toString());
    }

    @Test
    final void aGroupIsAnAccount() {
        Account found = account("group:lab");
        assertEquals("group:lab", found.name());
        assertEquals(0, found.uid());
        assertEquals(20_001, found.gid());
        assertEquals(Set.of("lab"), found.groups());
    }

    @Test
    final void anAccountStaysTheSame() {
        assertEquals(account("u1"), account("u1"));
        assertEquals(account("group:lab"), account("group:lab"));
    }

    @Test
    final void idsAreApart() {
        List<String> ids = Stream.of("u1", "u2", "group:lab")
                .map(name -> account(name).id())
                .toList();
        assertEquals(3, Set.copyOf(ids).size(), ids.toString());
        assertNotEquals("", ids.getFirst());
    }

    @Test
    final void whatIsNoNameIsNobodys() {
        for (String name : NOBODY) {
            assertEquals(Optional.empty(), directory().account(name), () -> "\"" + name + "\"");
        }
    }

    @Test
    final void whoDoesNotExistIsNobody() {
        assertEquals(Optional.empty(), directory().account("nobody-at-all"));
        assertEquals(Optional.empty(), directory().account("group:nothing-at-all"));
    }
}
