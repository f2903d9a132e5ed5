package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ContainerUserTest {
    @ParameterizedTest
    @CsvSource({
        "root, 0:0",
        "0, 0:0",
        "1000, 1000:1000",
        "1000:100, 1000:100",
        "0:1000, 0:1000",
        "4294967294:4294967294, 4294967294:4294967294",
        "account, account"
    })
    void aUserIsReadAndWrittenInOneForm(String text, String form) {
        ContainerUser user = ContainerUser.parse(text);
        assertEquals(form, user.toString());
        assertEquals(user, ContainerUser.parse(user.toString()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "Root",
                "nobody",
                "-1",
                "+1",
                "1000:",
                ":1000",
                "1000:100:1",
                "1000 ",
                "0x10",
                "4294967295",
                "1000:4294967295",
                "99999999999",
                "1000\n",
                "١"
            })
    void anythingElseIsRefused(String text) {
        DriverException.InvalidRequest refused =
                assertThrows(DriverException.InvalidRequest.class, () -> ContainerUser.parse(text));
        assertTrue(refused.getMessage().startsWith("containerUser "), refused.getMessage());
    }
}
