package dev.siphon.controller.audit;

import dev.siphon.csi.fuzz.ParserFuzz;
import org.junit.jupiter.api.Test;

/// Fuzzes `.meta` files of a file system, whoever wrote them.
final class MetaFileParsingFuzzTest {
    @Test
    void metaFiles() {
        String meta = """
                [GLOBAL]
                version = 2
                type = subvolume
                path = /volumes/a/b/c
                state = complete

                [USER_METADATA]
                siphon.account = 1000 u1
                \tmore
                ; no
                # no
                x:y

                [snap metadata]
                a = b
                """;
        ParserFuzz.of(
                        ".meta files",
                        ParserFuzz.texts(meta),
                        bytes -> MetaFile.parse(ParserFuzz.text(bytes)).text(),
                        MetaFile.Invalid.class)
                .run();
    }
}
