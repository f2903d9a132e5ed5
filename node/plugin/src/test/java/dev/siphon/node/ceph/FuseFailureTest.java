package dev.siphon.node.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Monitors;
import dev.siphon.csi.StatusMapping;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.mount.CephCredentials;
import dev.siphon.node.mount.CephCredentialsTest;
import dev.siphon.node.mount.ClientMount;
import dev.siphon.node.mount.ClientOptions;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FuseFailureTest {
    private static final ClientMount MOUNT = new ClientMount(
            VolumeId.parse("s1:lab:fs:g:v"),
            Monitors.parse("10.0.0.1"),
            "fs",
            "/volumes/g",
            CephCredentials.fromSecrets(Map.of("userID", "u", "userKey", CephCredentialsTest.AES_KEY)),
            ClientOptions.of(List.of(), false));

    private static DriverException explain(boolean inTime, String said) {
        return FuseFailure.explain(MOUNT, inTime, Duration.ofSeconds(30), said);
    }

    @ParameterizedTest
    @CsvSource({
        "ceph-fuse[5]: ceph mount failed with (2) No such file or directory,                NOT_FOUND",
        "ceph-fuse[5]: ceph mount failed with (1) Operation not permitted,                  PERMISSION_DENIED",
        "ceph-fuse[5]: ceph mount failed with (13) Permission denied,                       PERMISSION_DENIED",
        "ceph-fuse[5]: ceph mount failed with (110) Connection timed out,                   UNAVAILABLE",
        "monclient(hunting): handle_auth_bad_method server allowed_methods [2],             PERMISSION_DENIED",
        "failed to fetch mon config (--no-mon-config to skip),                              UNAVAILABLE",
        "'',                                                                                UNAVAILABLE",
    })
    void itsWordsBecomeACode(String said, Status.Code code) {
        assertEquals(code, StatusMapping.toStatus(explain(true, said)).getCode());
    }

    /// Output of Ceph 20.2.
    @Test
    void aLineOfTheLogInTheMiddleOfAnotherIsNoMatter() {
        DriverException explained = explain(true, """
                ceph-fuse[10855]: starting ceph client
                ceph-fuse[10855]: ceph mount failed with \
                2026-11-23T02:22:46.389+0000 7f1fe1ffb6c0 -1 client.4945 mds.0 rejected us (non-allowable root '/')
                (13) Permission denied
                """);
        assertEquals(
                Status.Code.PERMISSION_DENIED, StatusMapping.toStatus(explained).getCode());
        String message = String.valueOf(explained.getMessage());
        assertTrue(
                message.contains("mount failed with (13) Permission denied") && message.contains("rejected us"),
                message);
    }

    @Test
    void theMessageSaysWhatVolumeAndWhoAndKeepsTheKey() {
        String message = String.valueOf(
                explain(true, "ceph-fuse[5]: starting ceph client\nbroken\n").getMessage());
        assertTrue(message.contains("s1:lab:fs:g:v") && message.contains("client.u") && message.contains("broken"));
        assertFalse(message.contains("starting"), message);
        assertFalse(message.contains(CephCredentialsTest.AES_KEY), message);
    }

    @Test
    void aMountThatTakesTooLongIsUnavailable() {
        assertEquals(
                Status.Code.UNAVAILABLE,
                StatusMapping.toStatus(explain(false, "")).getCode());
    }
}
