package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class QuotedTextTest {
    @ParameterizedTest(name = "{0}")
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "plain, abc, `\"abc\"`",
                "nothing, ``, `\"\"`",
                "quotes, `a\"b`, `\"a\\\"b\"`",
                "backslash, a\\b, `\"a\\\\b\"`",
                "a new line, `a\nb`, `\"a\\u000ab\"`",
                "NUL, `a\u0000b`, `\"a\\u0000b\"`",
                "escape, `\u001b[31m`, `\"\\u001b[31m\"`",
                "right to left, `a\u202eb`, `\"a\\u202eb\"`",
                "half a pair, `a\ud800b`, `\"a\\ud800b\"`",
                "a letter beyond, ü😀, `\"ü😀\"`"
            })
    void whatCouldConfuseAReaderIsEscaped(String what, String text, String quoted) {
        assertEquals(quoted, QuotedText.of(text), what);
    }

    @Test
    void aLineIsPrintedWithoutWhatControlsATerminal() {
        assertEquals("a [2Jb c", QuotedText.printable(" a\u001b[2Jb\nc\u202e"));
    }

    @Test
    void longTextIsCutBetweenCharacters() {
        assertEquals("\"" + "😀".repeat(160) + "\"", QuotedText.of("😀".repeat(160)));
        assertEquals("\"" + "😀".repeat(160) + "\"...", QuotedText.of("😀".repeat(161)));
    }
}
