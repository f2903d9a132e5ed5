package dev.siphon.csi;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/// Suggests the known name that is closest to a misspelt one.
public final class SpellingSuggestion {
    /// Characters of a misspelt name that are compared; a longer name is no typing error.
    private static final int MAX_CHARS = 64;

    private SpellingSuggestion() {}

    /// Returns the known name with the smallest edit distance; the alphabetically first if several match.
    ///
    /// @throws java.util.NoSuchElementException if `known` is empty
    public static String to(String name, Collection<String> known) {
        return known.stream()
                .min(Comparator.comparingInt((String each) -> distance(name, each))
                        .thenComparing(Comparator.naturalOrder()))
                .orElseThrow();
    }

    /// Returns the Levenshtein distance.
    private static int distance(String left, String right) {
        List<Integer> above = new ArrayList<>();
        for (int i = 0; i <= right.length(); i++) {
            above.add(i);
        }
        for (int row = 1; row <= Math.min(left.length(), MAX_CHARS); row++) {
            List<Integer> line = new ArrayList<>(List.of(row));
            for (int i = 1; i <= right.length(); i++) {
                int replaced = above.get(i - 1) + (left.charAt(row - 1) == right.charAt(i - 1) ? 0 : 1);
                line.add(Math.min(replaced, 1 + Math.min(above.get(i), line.get(i - 1))));
            }
            above = line;
        }
        return above.getLast();
    }
}
