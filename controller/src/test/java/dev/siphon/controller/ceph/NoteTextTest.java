package dev.siphon.controller.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class NoteTextTest {
    @Property
    void anyKeyComesBack(@ForAll String key) {
        String kept = NoteText.keptKey(key);
        assertEquals(valid(key), NoteText.key(kept));
        assertTrue(kept.matches("[a-z0-9._-]*"), kept);
    }

    @Property
    void anyValueComesBack(@ForAll String value) {
        String kept = NoteText.keptValue(value);
        assertEquals(valid(value), NoteText.value(kept));
        assertTrue(kept.matches("[!-~&&[^%]]*"), kept);
    }

    @Test
    void idsStayReadable() {
        assertEquals("siphon.source", NoteText.keptKey("siphon.source"));
        assertEquals("s1:lab:fs:g:v@s", NoteText.keptValue("s1:lab:fs:g:v@s"));
    }

    @Test
    void whatPeopleWroteByOtherMeansIsTakenAsItIs() {
        assertEquals("a = b", NoteText.value("a = b"));
        assertEquals("half_", NoteText.key("half_"));
    }

    /// Half a surrogate pair has no bytes of its own.
    private static String valid(String text) {
        return new String(
                text.getBytes(java.nio.charset.StandardCharsets.UTF_8), java.nio.charset.StandardCharsets.UTF_8);
    }
}
