package dev.siphon.csi;

/// Makes text from the wire safe for messages and terminals.
public final class QuotedText {
    private static final int MAX_CHARS = 160;

    private QuotedText() {}

    /// Returns `text` in double quotes with control characters escaped, cut at 160 characters.
    public static String of(String text) {
        StringBuilder out = new StringBuilder("\"");
        text.codePoints().limit(MAX_CHARS).forEach(c -> {
            if (c == '"' || c == '\\') {
                out.append('\\').appendCodePoint(c);
            } else if (isUnsafe(c)) {
                out.append(String.format("\\u%04x", c));
            } else {
                out.appendCodePoint(c);
            }
        });
        return out.append(text.codePointCount(0, text.length()) > MAX_CHARS ? "\"..." : "\"")
                .toString();
    }

    /// Returns `text` as one line, with spaces in place of control characters.
    public static String printable(String text) {
        StringBuilder out = new StringBuilder();
        text.codePoints().forEach(c -> out.appendCodePoint(isUnsafe(c) ? ' ' : c));
        return out.toString().strip();
    }

    private static boolean isUnsafe(int c) {
        return Character.isISOControl(c)
                || Character.getType(c) == Character.FORMAT
                || Character.getType(c) == Character.SURROGATE;
    }
}
