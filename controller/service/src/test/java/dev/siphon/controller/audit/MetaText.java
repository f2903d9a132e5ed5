package dev.siphon.controller.audit;

import java.util.List;

/// Normalizes the text of a `.meta` file for comparison.
final class MetaText {
    private MetaText() {}

    /// Returns the sorted lines; the names of options show their section.
    static List<String> sorted(String text) {
        return text.lines().filter(line -> !line.isBlank()).sorted().toList();
    }
}
