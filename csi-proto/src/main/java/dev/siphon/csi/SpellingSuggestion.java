package dev.siphon.csi;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/// Finds what a person may have meant by a misspelt name.
public final class SpellingSuggestion {
    /// As much of a name as is compared; longer ones are no slip of the fingers.
    private static final int MAX_CHARS = 64;

    private SpellingSuggestion() {}

    /// The known name that takes the fewest changes of letters, the first of the alphabet among equals.
    ///
    /// @throws java.util.NoSuchElementException if none is known
    public static String to(String name, Collection<String> known) {
        return known.stream()
                .min(Comparator.comparingInt((String each) -> distance(name, each))
                        .thenComparing(Comparator.naturalOrder()))
                .orElseThrow();
    }

    /// Levenshtein's distance.
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
