package dev.siphon.controller.ldap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.unboundid.ldap.sdk.Attribute;
import com.unboundid.ldap.sdk.SearchResultEntry;
import dev.siphon.csi.DriverException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class LdapAttributesTest {
    private static LdapAttributes of(String name, String... values) {
        return new LdapAttributes(new SearchResultEntry("uid=u1,dc=a", new Attribute[] {new Attribute(name, values)}));
    }

    private static LdapAttributes ofBytes(String name, String hex) {
        byte[] value = HexFormat.of().parseHex(hex);
        return new LdapAttributes(new SearchResultEntry("uid=u1,dc=a", new Attribute[] {new Attribute(name, value)}));
    }

    @Test
    void idsOfActiveDirectoryAreReadAsWindowsWritesThem() {
        assertEquals(
                "c3bb8633-2d3f-4942-8612-9b30f7e91b2a",
                ofBytes("objectGUID", "3386bbc33f2d424986129b30f7e91b2a").immutableId("objectGUID"));
        assertEquals(
                "S-1-5-21-123456789-6580401-123456789-1105",
                ofBytes("objectSid", "010500000000000515000000" + "15cd5b07" + "b1686400" + "15cd5b07" + "51040000")
                        .immutableId("objectSID"));
    }

    @Test
    void otherIdsAreTexts() {
        assertEquals("abc-1", of("entryUUID", "ABC-1").immutableId("entryUUID"));
        fault(() -> of("entryUUID", "a", "b").immutableId("entryUUID"));
        fault(() -> of("other", "a").immutableId("entryUUID"));
        fault(() -> ofBytes("objectGUID", "00").immutableId("objectGUID"));
        fault(() -> ofBytes("objectSid", "0105").immutableId("objectSid"));
    }

    @ParameterizedTest(name = "uid {0} is {1}")
    @CsvSource({"1000, 1000", "2147483648, 2147483648", "4294967294, 4294967294"})
    void numbersAreUnsigned(String text, String number) {
        assertEquals(number, Integer.toUnsignedString(of("uidNumber", text).id("uidNumber", 1000)));
    }

    @ParameterizedTest(name = "uid \"{0}\" is refused")
    @CsvSource({"0", "999", "-1", "4294967295", "''", "1e4", "0x3e8", "' 1000'", "99999999999999999999"})
    void otherNumbersAreRefused(String text) {
        fault(() -> of("uidNumber", text).id("uidNumber", 1000));
    }

    @Test
    void allowancesHaveUnits() {
        assertEquals(OptionalLong.of(5L << 30), of("quota", "5Gi").allowance(Optional.of("quota")));
        assertEquals(OptionalLong.of(0), of("quota", "0").allowance(Optional.of("quota")));
        assertEquals(OptionalLong.empty(), of("other", "5Gi").allowance(Optional.of("quota")));
        assertEquals(OptionalLong.empty(), of("quota", "5Gi").allowance(Optional.empty()));
        fault(() -> of("quota", "lots").allowance(Optional.of("quota")));
        fault(() -> of("quota", "1", "2").allowance(Optional.of("quota")));
    }

    private static void fault(Runnable call) {
        var fault = assertThrows(DriverException.BackendFault.class, call::run);
        assertTrue(fault.getMessage().startsWith("LDAP entry \"uid=u1,dc=a\": attribute "), fault.getMessage());
    }
}
