package dev.siphon.controller.ldap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.unboundid.ldap.sdk.AddRequest;
import com.unboundid.ldap.sdk.Modification;
import com.unboundid.ldap.sdk.ModificationType;
import com.unboundid.ldap.sdk.SearchScope;
import com.unboundid.ldap.sdk.controls.ManageDsaITRequestControl;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.identity.AccountDirectoryContract;
import dev.siphon.csi.DriverException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/// Accounts and groups in a real OpenLDAP.
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LdapDirectoryIT extends AccountDirectoryContract {
    private final LdapConfig config = LabDirectory.config(List.of(LabDirectory.PLAIN), "");
    private final LdapConnections connections = LdapConnections.open(config);
    private final AccountDirectory directory = LabDirectory.uncached(config, connections);

    @AfterAll
    void close() {
        connections.close();
    }

    @Override
    protected AccountDirectory directory() {
        return directory;
    }

    private Account account(String name) {
        return directory.account(name).orElseThrow(() -> new AssertionError("no account " + name));
    }

    @Test
    void theAllowanceIsTheAccountsOwnElseTheLargestOfItsGroups() {
        assertEquals(Set.of("lab", "ml", "everyone"), account("u1").groups());
        assertEquals(OptionalLong.of(100L << 30), account("u1").allowanceBytes());
        assertEquals(OptionalLong.of(2L << 40), account("u10").allowanceBytes());
        assertEquals(OptionalLong.of(50_000_000_000L), account("u1000").allowanceBytes());
        assertEquals(OptionalLong.empty(), account("group:lab").allowanceBytes());
        assertEquals(OptionalLong.of(2L << 40), account("group:ml").allowanceBytes());
    }

    @Test
    void groupsOfDnsAreFound() {
        LdapConfig byDn = LabDirectory.bis("");
        try (LdapConnections own = LdapConnections.open(byDn)) {
            AccountDirectory teams = LabDirectory.uncached(byDn, own);
            Account u10 = teams.account("u10").orElseThrow();
            assertEquals(Set.of("vision", "staff"), u10.groups());
            assertEquals(OptionalLong.of(1L << 40), u10.allowanceBytes());
            assertEquals(
                    Set.of("staff"), teams.account("group:staff").orElseThrow().groups());
        }
    }

    @Test
    void entriesOfActiveDirectoryAreRead() {
        LdapConfig active = LabDirectory.activeDirectory();
        try (LdapConnections own = LdapConnections.open(active)) {
            AccountDirectory domain = LabDirectory.uncached(active, own);
            Account ada = domain.account("ada").orElseThrow();
            assertEquals("ldap:c3bb8633-2d3f-4942-8612-9b30f7e91b2a:30001", ada.id());
            assertEquals(Set.of("research"), ada.groups());
            assertEquals(Optional.empty(), domain.account("Ada"));
            assertEquals(
                    Set.of("research"),
                    domain.account("group:research").orElseThrow().groups());
        }
    }

    @Test
    void aRenamedAccountIsTheSameAccount() {
        Account before = account("u900");
        LabDirectory.change(it -> it.modifyDN("uid=u900,ou=people," + LabDirectory.BASE, "uid=renamed900", true));
        try {
            assertEquals(Optional.empty(), directory.account("u900"));
            assertEquals(before.id(), account("renamed900").id());
            assertEquals(before.uid(), account("renamed900").uid());
        } finally {
            LabDirectory.change(it -> it.modifyDN("uid=renamed900,ou=people," + LabDirectory.BASE, "uid=u900", true));
        }
        assertEquals(before, account("u900"));
    }

    @Test
    void aReusedNameOrUidIsAnotherAccount() {
        String first = LabDirectory.addAccount("uid=reused", "reused", 40_001);
        String before = account("reused").id();
        LabDirectory.remove(first);
        String second = LabDirectory.addAccount("uid=reused", "reused", 40_001);
        try {
            assertNotEquals(before, account("reused").id());
        } finally {
            LabDirectory.remove(second);
        }
    }

    @Test
    void anAccountThatIsGivenAnotherUidIsAnotherAccount() {
        String dn = LabDirectory.addAccount("uid=moved", "moved", 40_002);
        try {
            String before = account("moved").id();
            LabDirectory.change(it -> it.modify(dn, new Modification(ModificationType.REPLACE, "uidNumber", "40003")));
            assertNotEquals(before, account("moved").id());
        } finally {
            LabDirectory.remove(dn);
        }
    }

    @Test
    void twoEntriesOfOneNameAreRefusedByEitherSpelling() {
        String one = LabDirectory.addAccount("cn=one", "double", 40_010);
        String other = LabDirectory.addAccount("cn=other", "DOUBLE", 40_011);
        try {
            for (String name : List.of("double", "DOUBLE")) {
                var refused = assertThrows(DriverException.BackendFault.class, () -> directory.account(name));
                assertTrue(refused.getMessage().contains("cn=other"), refused.getMessage());
            }
            assertEquals(Optional.empty(), directory.account("double1"));
        } finally {
            LabDirectory.remove(one);
            LabDirectory.remove(other);
        }
    }

    @Test
    void lookAlikesOfTheServerAreNotTheAccount() {
        String dn = LabDirectory.addAccount("cn=case", "MixedCase", 40_012);
        try {
            assertEquals(40_012, account("MixedCase").uid());
            for (String other : List.of("mixedcase", "MIXEDCASE", "Mixedcase", "MixedCase ", "Mixed\u00ADCase")) {
                assertEquals(Optional.empty(), directory.account(other), other);
            }
        } finally {
            LabDirectory.remove(dn);
        }
    }

    @Test
    void charactersThatFiltersAndDnsMeanSomethingByAreOnlyCharacters() {
        String name = "a*(b)\\c,d+e=f;g<h>\"i\"&|!~#/äß";
        String dn = LabDirectory.addAccount("cn=x\\2cy\\2b\\22", name, 40_013);
        try {
            assertEquals(40_013, account(name).uid());
            assertEquals(Optional.empty(), directory.account("a*"));
            LdapConfig bis = LabDirectory.bis("");
            try (LdapConnections own = LdapConnections.open(bis)) {
                assertEquals(
                        40_013,
                        LabDirectory.uncached(bis, own)
                                .account(name)
                                .orElseThrow()
                                .uid());
            }
        } finally {
            LabDirectory.remove(dn);
        }
    }

    @Test
    void accountsOfTheSystemAreRefused() {
        for (long uid : List.of(0L, 999L, -1L, 4_294_967_295L)) {
            String dn = LabDirectory.addAccount("uid=low", "low", uid);
            try {
                var refused = assertThrows(DriverException.BackendFault.class, () -> directory.account("low"));
                assertTrue(refused.getMessage().contains("uidNumber"), refused.getMessage());
            } finally {
                LabDirectory.remove(dn);
            }
        }
    }

    @Test
    void anAllowanceThatIsNoneIsRefusedAndNamed() {
        String dn = LabDirectory.addAccount("uid=wrong", "wrong", 40_014, "siphonAllowance: lots");
        try {
            var refused = assertThrows(DriverException.BackendFault.class, () -> directory.account("wrong"));
            assertTrue(refused.getMessage().contains("siphonAllowance \"lots\""), refused.getMessage());
        } finally {
            LabDirectory.remove(dn);
        }
    }

    @Test
    void referralsAreNotFollowed() {
        try (TcpProxy elsewhere = new TcpProxy("127.0.0.1", LabDirectory.PORT)) {
            String dn = "cn=elsewhere,ou=people," + LabDirectory.BASE;
            LabDirectory.change(it -> {
                AddRequest request = new AddRequest(
                        "dn: " + dn,
                        "objectClass: referral",
                        "objectClass: extensibleObject",
                        "cn: elsewhere",
                        "ref: ldap://127.0.0.1:" + elsewhere.port() + "/" + dn);
                request.addControl(new ManageDsaITRequestControl());
                it.add(request);
            });
            try {
                assertEquals(10_001, account("u1").uid());
                assertEquals(Optional.empty(), directory.account("nobody"));
                assertEquals(0, elsewhere.accepted());
            } finally {
                LabDirectory.remove(dn);
            }
        }
    }

    @Test
    void aBaseThatIsNotThereIsNoAbsentAccount() {
        var search = new LdapConnections.Search(
                "ou=nowhere," + LabDirectory.BASE,
                SearchScope.SUB,
                config.accounts().filter(),
                List.of("uid"));
        var unavailable = assertThrows(DriverException.BackendUnavailable.class, () -> connections.atMostTwo(search));
        assertTrue(unavailable.getMessage().contains("no such object"), unavailable.getMessage());
    }
}
