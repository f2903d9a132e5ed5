package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class MountOptionsTest {
    @ParameterizedTest
    @ValueSource(strings = {"noatime", "ro", "rasize=8388608", "recover_session=clean", "ms_mode=prefer-crc"})
    void aListedOptionPasses(String option) {
        assertDoesNotThrow(() -> MountOptions.check(option));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "name=admin",
                "secret=x",
                "secretfile=/etc/passwd",
                "fs=other",
                "mds_namespace=other",
                "fsid=x",
                "conf=/x",
                "noatime=",
                "noatime=1",
                "noatime,name=admin",
                "rasize",
                "rasize=",
                "rasize=x",
                "rasize=1,name=admin",
                "rasize=12345678901",
                "RASIZE=1",
                " noatime",
                "noatime ",
                "noatime\u0000",
                "recover_session=dirty",
                "suid",
                "dev",
                "remount",
                "bind"
            })
    void anyOtherIsRefused(String option) {
        assertThrows(DriverException.InvalidRequest.class, () -> MountOptions.check(option));
    }

    @Test
    void theValueOfARefusedOptionIsNeverShown() {
        String unknown = assertThrows(DriverException.InvalidRequest.class, () -> MountOptions.check("secret=AQB1"))
                .getMessage();
        assertFalse(unknown.contains("AQB1"), unknown);
        assertTrue(unknown.contains("\"secret\""), unknown);
        String wrong = assertThrows(DriverException.InvalidRequest.class, () -> MountOptions.check("rasize=AQB1"))
                .getMessage();
        assertFalse(wrong.contains("AQB1"), wrong);
    }

    @Test
    void aSecretThatStandsAloneIsNotShownEither() {
        String message = assertThrows(DriverException.InvalidRequest.class, () -> MountOptions.check("AQB1secretkey=="))
                .getMessage();
        assertFalse(message.contains("AQB1"), message);
    }
}
