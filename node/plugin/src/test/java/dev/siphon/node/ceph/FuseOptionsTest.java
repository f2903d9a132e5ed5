package dev.siphon.node.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException.InvalidRequest;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FuseOptionsTest {
    @ParameterizedTest
    @CsvSource({
        "rbytes,                --client_dirsize_rbytes=true",
        "norbytes,              --client_dirsize_rbytes=false",
        "acl,                   --client_acl_type=posix_acl --fuse_default_permissions=false",
        "noacl,                 ''",
        "rasize=65536,          --client_readahead_max_bytes=65536",
        "ms_mode=crc,           --ms_client_mode=crc",
        "ms_mode=secure,        --ms_client_mode=secure",
        "ms_mode=prefer-crc,    --ms_client_mode=crc secure",
        "ms_mode=prefer-secure, --ms_client_mode=secure crc",
    })
    void anOptionThatCephFuseHasIsTranslated(String option, String arguments) {
        assertEquals(arguments, String.join(" ", FuseOptions.arguments(List.of(option))));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rsize=4096", "wsync", "dcache", "caps_max=1", "ms_mode=legacy", "recover_session=clean"})
    void anOptionOfTheKernelAloneIsRefusedByName(String option) {
        InvalidRequest e = assertThrows(InvalidRequest.class, () -> FuseOptions.arguments(List.of(option)));
        assertTrue(String.valueOf(e.getMessage()).contains(option));
    }
}
