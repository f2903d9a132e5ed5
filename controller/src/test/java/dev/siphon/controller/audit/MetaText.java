package dev.siphon.controller.audit;

import java.util.List;

/// The text of a `.meta` file, for comparing.
final class MetaText {
    private MetaText() {}

    /// Its lines in order: what is in which section shows in the names of options.
    static List<String> sorted(String text) {
        return text.lines().filter(line -> !line.isBlank()).sorted().toList();
    }
}
