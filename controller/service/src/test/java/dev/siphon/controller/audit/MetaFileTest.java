package dev.siphon.controller.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class MetaFileTest {
    /// As written by the mgr of Ceph 20.
    private static final String OF_THE_MGR = """
            [GLOBAL]
            version = 2
            type = clone
            path = /volumes/a/c/01234567-89ab-cdef-0123-456789abcdef
            state = pending

            [source]
            volume = cephfs
            subvolume = v
            snapshot = s1
            group = a

            [CLONE_FAILURE]
            error_msg = one
            \ttwo

            """;

    /// Such a file once took hours to parse.
    @Test
    void whatIsLongIsReadAtOnce() {
        String blanks = " ".repeat(100_000);
        assertTimeoutPreemptively(Duration.ofSeconds(30), () -> {
            assertThrows(MetaFile.Invalid.class, () -> MetaFile.parse("[a]\nb" + blanks + "\n"));
            MetaFile lines = MetaFile.parse("[a]\nb = c" + "\n d".repeat(250_000));
            assertEquals(Optional.of("c" + "\nd".repeat(250_000)), lines.value("a", "b"));
        });
    }

    @Test
    void whatTheMgrWroteIsReadAndWrittenAsItIs() throws MetaFile.Invalid {
        MetaFile meta = MetaFile.parse(OF_THE_MGR);
        assertTrue(meta.hasKnownFormat());
        assertEquals("pending", meta.global("state"));
        assertEquals(Optional.of("one\ntwo"), meta.value("CLONE_FAILURE", "error_msg"));
        assertEquals(OF_THE_MGR, meta.text());
    }

    @Test
    void oneOptionIsChangedAndTheRestStays() throws MetaFile.Invalid {
        MetaFile meta = MetaFile.parse(OF_THE_MGR).with(MetaFile.GLOBAL, "state", "failed");
        assertEquals(OF_THE_MGR.replace("pending", "failed"), meta.text());
        MetaFile without = meta.without("CLONE_FAILURE", "error_msg");
        assertFalse(without.sections().containsKey("CLONE_FAILURE"));
        assertEquals(Optional.of("s1"), without.value("source", "snapshot"));
    }

    @Test
    void keysAreInLowerCaseAsConfigParserHasThem() throws MetaFile.Invalid {
        assertEquals("2", MetaFile.parse("[GLOBAL]\nVersion: 2\n").global("version"));
    }

    @Test
    void aFormatThatTheMgrDoesNotGiveIsSeen() throws MetaFile.Invalid {
        for (String line : new String[] {"version = 1\ntype = subvolume", "version = 2\ntype = shell", ""}) {
            assertFalse(MetaFile.parse("[GLOBAL]\n" + line + "\n").hasKnownFormat(), line);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"version = 2\n", "[GLOBAL]\nnothing\n", "[A]\nx = 1\n[A]\n", "[A]\nx = 1\nx = 2\n"})
    void whatConfigParserRefusesIsRefused(String text) {
        assertThrows(MetaFile.Invalid.class, () -> MetaFile.parse(text));
    }
}
