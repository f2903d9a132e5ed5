package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException.InvalidRequest;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class TargetPathTest {
    static Stream<Arguments> refused() {
        return Stream.of(
                Arguments.of("missing", "", "missing"),
                Arguments.of("relative", "some/path", "absolute"),
                Arguments.of("root", "/", "system directory"),
                Arguments.of("root, doubled", "//", "system directory"),
                Arguments.of("one part", "/var", "system directory"),
                Arguments.of("one part, slash", "/home/", "system directory"),
                Arguments.of("proc", "/proc/self", "system directory"),
                Arguments.of("etc", "/etc/ssh", "system directory"),
                Arguments.of("usr", "/usr/local/volume", "system directory"),
                Arguments.of("dot", "/var/./lib", "'..'"),
                Arguments.of("dot dot", "/var/lib/../../etc", "'..'"),
                Arguments.of("dot dot at the end", "/var/lib/..", "'..'"),
                Arguments.of("NUL", "/var/lib/a\0b", "control character"),
                Arguments.of("line feed", "/var/lib/a\nb", "control character"),
                Arguments.of("C1 control", "/var/lib/a\u0085b", "control character"),
                Arguments.of("4096 bytes", "/var/" + "a/".repeat(2045) + "b", "longer than"),
                Arguments.of("4096 bytes in UTF-8", "/var/" + "\u00e9/".repeat(1364), "longer than"),
                Arguments.of("a part of 256 bytes", "/var/" + "a".repeat(256), "255 bytes"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void refused(String name, String path, String why) {
        InvalidRequest e = assertThrows(InvalidRequest.class, () -> TargetPath.parse("target_path", path), name);
        assertTrue(String.valueOf(e.getMessage()).startsWith("target_path"), e::getMessage);
        assertTrue(String.valueOf(e.getMessage()).contains(why), e::getMessage);
    }

    @ParameterizedTest
    @CsvSource({
        "/var/lib/kubelet/pods/x/mount, /var/lib/kubelet/pods/x/mount",
        "/var//lib///x/, /var/lib/x",
        "/tmp/csi, /tmp/csi",
        "/data/proc, /data/proc",
        "/data/..., /data/...",
        "/data/a b, /data/a b",
    })
    void accepted(String wire, String text) {
        assertEquals(text, TargetPath.parse("target_path", wire).text());
    }

    @Test
    void theLongestPathIsAccepted() {
        String path = "/var/" + "a/".repeat(2044) + "bb";
        assertEquals(4095, path.length());
        assertEquals(path, TargetPath.parse("target_path", path).text());
    }

    @Test
    void parentAndNameArePartsOfIt() {
        TargetPath path = TargetPath.parse("target_path", "/pods/x/mount");
        assertEquals("/pods/x", path.parent());
        assertEquals("mount", path.name());
    }

    @ParameterizedTest
    @CsvSource({"/state/node, true", "/state, true", "/state/node/mounts, true", "/state/nodes, false", "/st, false"})
    void overlapsWhatIsItAboveItOrBelowIt(String directory, boolean overlaps) {
        TargetPath path = TargetPath.parse("target_path", "/state/node");
        assertEquals(overlaps, path.overlaps(directory));
    }

    @Test
    void messagesShowNoControlCharacter() {
        InvalidRequest e = assertThrows(InvalidRequest.class, () -> TargetPath.parse("target_path", "/a/\u001b[31m"));
        assertFalse(String.valueOf(e.getMessage()).contains("\u001b"));
    }
}
