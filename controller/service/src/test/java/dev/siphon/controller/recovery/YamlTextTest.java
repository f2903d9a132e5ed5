package dev.siphon.controller.recovery;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonParser;
import java.util.List;
import org.junit.jupiter.api.Test;

final class YamlTextTest {
    @Test
    void objectsAndListsAreBlocksAndDoubtfulWordsAreQuoted() {
        String json = """
                {"kind": "PersistentVolume", "empty": {}, "none": [], "siphon.dev/x": "a: b", "on": true, "size": "1Gi",
                 "list": ["ReadWriteMany", "no", 7, [1]], "objects": [{"a": {"b": "c"}, "d": "e"}, {"f": "${x}"}]}
                """;
        assertEquals("""
                kind: PersistentVolume
                empty: {}
                none: []
                siphon.dev/x: "a: b"
                "on": true
                size: "1Gi"
                list:
                  - ReadWriteMany
                  - "no"
                  - 7
                  - [1]
                objects:
                  - a:
                      b: c
                    d: e
                  - f: "${x}"
                """, YamlText.of(JsonParser.parseString(json).getAsJsonObject()));
    }

    @Test
    void aCommentIsOneLineWhateverIsInIt() {
        assertEquals(
                "---\n# left out reader a kind: Secret\nkind: Dataset\n",
                new Document(
                                List.of("left out reader a\nkind: Secret"),
                                JsonParser.parseString("{\"kind\": \"Dataset\"}")
                                        .getAsJsonObject())
                        .text());
    }
}
