package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.Attribute;
import com.unboundid.ldap.sdk.SearchResultEntry;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.fuzz.ParserFuzz;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// Fuzzes a directory's data about people. The SDK implements the protocol, see [EndlessServerTest].
final class AttributesParsingFuzzTest {
    private static LdapAttributes of(String name, byte[] value) {
        return new LdapAttributes(new SearchResultEntry("uid=u1,dc=a", new Attribute[] {new Attribute(name, value)}));
    }

    private static void run(String attribute, List<byte[]> valid, ParserFuzz.Parse parse) {
        ParserFuzz.of("LDAP's " + attribute, valid, parse, DriverException.BackendFault.class)
                .run();
    }

    @Test
    void numbers() {
        run(
                "uidNumber",
                ParserFuzz.texts("1000", "4294967294"),
                bytes -> of("uidNumber", bytes).id("uidNumber", 1000));
    }

    @Test
    void allowances() {
        run(
                "quota",
                ParserFuzz.texts("100Gi", "1T", "5"),
                bytes -> of("quota", bytes).allowance(Optional.of("quota")));
    }

    @Test
    void identifiersOfWindows() {
        run(
                "objectSid",
                List.of(HexFormat.of()
                        .parseHex("010500000000000515000000" + "15cd5b07" + "b1686400" + "15cd5b07" + "51040000")),
                bytes -> of("objectSid", bytes).immutableId("objectSid"));
    }

    @Test
    void uuidsOfWindows() {
        run(
                "objectGUID",
                List.of(HexFormat.of().parseHex("3386bbc33f2d424986129b30f7e91b2a")),
                bytes -> of("objectGUID", bytes).immutableId("objectGUID"));
    }
}
