package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CephPathTest {
    @ParameterizedTest
    @ValueSource(strings = {"/a", "/volumes/g/v", "/with blank/ü", "/...", "/.hidden", "/a.snap"})
    void aCleanPathMayBeUsed(String path) {
        assertTrue(CephPath.isClean(path));
        assertDoesNotThrow(() -> CephPath.check(path));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "a",
                "a/b",
                "//",
                "/a/",
                "/a//b",
                "/.",
                "/..",
                "/a/..",
                "/a/../b",
                "/./a",
                "/.snap",
                "/a/.snap/b",
                "/a\u0000",
                "/a\nb",
                "/\u007f",
                "/\u0085"
            })
    void anyOtherIsRefused(String path) {
        assertFalse(CephPath.isClean(path));
        assertThrows(DriverException.InvalidRequest.class, () -> CephPath.check(path));
    }

    @ParameterizedTest
    @ValueSource(strings = {"v", "v/uuid", "v/.snap/s", "v/.snap/s/uuid"})
    void aPathBelowAnotherMayLeadIntoASnapshot(String path) {
        assertDoesNotThrow(() -> CephPath.checkRelative(path));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "/v",
                "..",
                "v/..",
                "v/../w",
                "v//w",
                "v/",
                ".snap",
                ".snap/s",
                "v/.snap",
                "v/.snap/..",
                "v/.snap/a/.snap/b",
                "v/\u0000"
            })
    void anyOtherBelowIsRefused(String path) {
        assertThrows(DriverException.InvalidRequest.class, () -> CephPath.checkRelative(path));
    }

    @Test
    void aPartIsNoLongerThanANameMayBe() {
        assertTrue(CephPath.isClean("/a/" + "ü".repeat(127) + "x"));
        assertFalse(CephPath.isClean("/a/" + "ü".repeat(128)));
        assertThrows(DriverException.InvalidRequest.class, () -> CephPath.checkRelative("v/" + "x".repeat(256)));
    }

    @Test
    void thePathLeavesRoomForWhereANodeMountsIt() {
        assertTrue(CephPath.isClean("/abcdefg".repeat(384)));
        assertFalse(CephPath.isClean("/abcdefg".repeat(384) + "h"));
    }
}
