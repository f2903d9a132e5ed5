package dev.siphon.controller.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.fuzz.ParserFuzz;
import org.junit.jupiter.api.Test;

/// Fuzzes notes in the mgr's format: everything written can be read again.
final class NotesTextParsingFuzzTest {
    @Test
    void notes() {
        ParserFuzz.of("texts of notes", ParserFuzz.texts("jürgen=%2e", "=e2=82=ac", "a_2fb"), bytes -> {
                    String text = ParserFuzz.text(bytes);
                    assertEquals(text, MetadataEncoding.value(MetadataEncoding.keptValue(text)));
                    var _ = MetadataEncoding.key(text).length()
                            + MetadataEncoding.value(text).length();
                })
                // writing needs more memory
                .allocating(64 << 20)
                .run();
    }
}
