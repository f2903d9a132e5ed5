package dev.siphon.controller.grant;

import dev.siphon.controller.volume.AccountNote;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.fuzz.ParserFuzz;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/// Fuzzes notes on Ceph directories, which any client that mounts `/volumes` may have changed.
final class NotesParsingFuzzTest {
    @Test
    void grants() {
        GrantNote note = new GrantNote("jürgen", new TreeMap<>(Map.of("a", "0123abcd", "b", "")), false);
        ParserFuzz.of(
                        "notes of grants",
                        ParserFuzz.texts(note.text(), note.grant().toJson()),
                        bytes -> GrantNote.parse(ParserFuzz.text(bytes)),
                        DriverException.BackendFault.class)
                .run();
    }

    @Test
    void accounts() {
        ParserFuzz.of(
                        "notes of accounts",
                        ParserFuzz.texts(new AccountNote("1000", "u1").text()),
                        bytes -> AccountNote.parse(ParserFuzz.text(bytes)))
                .run();
    }
}
