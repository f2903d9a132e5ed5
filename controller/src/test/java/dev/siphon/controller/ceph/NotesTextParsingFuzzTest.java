package dev.siphon.controller.ceph;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.fuzz.ParserFuzz;
import org.junit.jupiter.api.Test;

/// Notes as the mgr keeps them: whatever is written is read again.
final class NotesTextParsingFuzzTest {
    @Test
    void notes() {
        ParserFuzz.of("texts of notes", ParserFuzz.texts("jürgen=%2e", "=e2=82=ac", "a_2fb"), bytes -> {
                    String text = ParserFuzz.text(bytes);
                    assertEquals(text, MetadataEncoding.value(MetadataEncoding.keptValue(text)));
                    var _ = MetadataEncoding.key(text).length()
                            + MetadataEncoding.value(text).length();
                })
                // to write it takes more
                .allocating(64 << 20)
                .run();
    }
}
