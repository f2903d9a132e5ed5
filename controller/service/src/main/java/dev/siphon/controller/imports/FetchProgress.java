package dev.siphon.controller.imports;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// How far a fetch is, as the process says that runs it. That process is the tenant's, so nothing depends on these
/// numbers.
///
/// @param totalBytes -1 if unknown
/// @param secondsLeft -1 if unknown
public record FetchProgress(long bytes, long totalBytes, long bytesPerSecond, long secondsLeft) {
    public static final FetchProgress NONE = new FetchProgress(0, -1, 0, -1);

    /// Name of the note on the volume's root directory: an attribute `user.siphon.fetched` that the fetcher sets.
    public static final String NOTE = "fetched";

    private static final int MOST_CHARS = 100;
    private static final Pattern FORM =
            Pattern.compile("([0-9]{1,18}) (-1|[0-9]{1,18}) ([0-9]{1,18}) (-1|[0-9]{1,18})");

    /// Parses the four numbers with a space between each two; empty for any other text.
    static Optional<FetchProgress> parse(String note) {
        return Optional.of(note)
                .filter(text -> text.length() <= MOST_CHARS)
                .map(FORM::matcher)
                .filter(Matcher::matches)
                .map(found -> new FetchProgress(
                        Long.parseLong(found.group(1)),
                        Long.parseLong(found.group(2)),
                        Long.parseLong(found.group(3)),
                        Long.parseLong(found.group(4))));
    }
}
