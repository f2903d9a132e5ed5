package dev.siphon.csi;

/// Makes text from the wire safe for messages: quotes it, escapes control characters, and cuts it at 160
/// characters.
public final class QuotedText {
    private static final int MAX_CHARS = 160;

    private QuotedText() {}

    /// Returns `text` in double quotes, safe to log and to show.
    public static String of(String text) {
        StringBuilder out = new StringBuilder("\"");
        text.codePoints().limit(MAX_CHARS).forEach(c -> {
            if (c == '"' || c == '\\') {
                out.append('\\').appendCodePoint(c);
            } else if (Character.isISOControl(c)
                    || Character.getType(c) == Character.FORMAT
                    || Character.getType(c) == Character.SURROGATE) {
                out.append(String.format("\\u%04x", c));
            } else {
                out.appendCodePoint(c);
            }
        });
        return out.append(text.codePointCount(0, text.length()) > MAX_CHARS ? "\"..." : "\"")
                .toString();
    }
}
