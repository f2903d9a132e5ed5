package dev.siphon.e2e.containers;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The final report of csi-sanity.
///
/// @param exit its exit status: 0 if no case failed, 124 if it ran out of time
/// @param passed the number of passed cases
/// @param failed the number of failed cases
/// @param failures a line for each failed case; csi-sanity's last lines if it did not finish
record SanityReport(int exit, int passed, int failed, List<String> failures) {
    private static final Pattern SUMMARY = Pattern.compile("(\\d+) Passed \\| (\\d+) Failed");
    private static final int LAST_LINES = 20;

    SanityReport {
        failures = List.copyOf(failures);
    }

    /// Parses csi-sanity's stdout. Without a summary no case counts as passed.
    static SanityReport read(int exit, String output) {
        Matcher summary = SUMMARY.matcher(output);
        List<String> lines = output.lines().toList();
        if (!summary.find()) {
            return new SanityReport(exit, 0, 0, lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size()));
        }
        return new SanityReport(
                exit,
                Integer.parseInt(summary.group(1)),
                Integer.parseInt(summary.group(2)),
                lines.stream().filter(line -> line.contains("[FAIL]")).toList());
    }
}
