package dev.siphon.controller.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class MetadataEncodingTest {
    @Property
    void anyKeyComesBack(@ForAll String key) {
        String kept = MetadataEncoding.keptKey(key);
        assertEquals(valid(key), MetadataEncoding.key(kept));
        assertTrue(kept.matches("[a-z0-9._/-]*"), kept);
    }

    @Property
    void anyValueComesBack(@ForAll String value) {
        String kept = MetadataEncoding.keptValue(value);
        assertEquals(valid(value), MetadataEncoding.value(kept));
        assertTrue(kept.matches("[!-~&&[^%]]*"), kept);
    }

    @Test
    void idsStayReadable() {
        assertEquals("siphon.source", MetadataEncoding.keptKey("siphon.source"));
        assertEquals("csi.storage.k8s.io/pv/name", MetadataEncoding.keptKey("csi.storage.k8s.io/pv/name"));
        assertEquals("s1:lab:fs:g:v@s", MetadataEncoding.keptValue("s1:lab:fs:g:v@s"));
    }

    @Test
    void whatPeopleWroteByOtherMeansIsTakenAsItIs() {
        assertEquals("a = b", MetadataEncoding.value("a = b"));
        assertEquals("half_", MetadataEncoding.key("half_"));
    }

    /// Replaces lone surrogates, which have no encoding.
    private static String valid(String text) {
        return new String(
                text.getBytes(java.nio.charset.StandardCharsets.UTF_8), java.nio.charset.StandardCharsets.UTF_8);
    }
}
