package dev.siphon.controller.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// One capability of an identity at a service: `allow rw tag cephfs data=cephfs` (`src/mon/MonCap.cc`,
/// `src/mds/MDSAuthCaps.cc`, `src/osd/OSDCap.cc`, `src/mgr/MgrCap.cc`).
///
/// @param text as written
/// @param permissions letters, or `*` for all
/// @param conditions words that restrict it; none if it holds everywhere
record Cap(String text, String permissions, Set<String> conditions) {
    private static final Pattern CLAUSE = Pattern.compile("(?:\"[^\"]*\"|[^\",;])+");
    private static final Pattern WORD = Pattern.compile("(?:\"[^\"]*\"|[^\"\\s])+");
    private static final Pattern PERMISSIONS = Pattern.compile("\\*|all|[rwxpsf]+");
    private static final String ALL = "*";

    /// The most that a mon command can need, for a cap that names a command and no letters.
    private static final String COMMAND = "rwx";

    Cap {
        conditions = Set.copyOf(conditions);
    }

    /// Parses all caps of one service.
    static List<Cap> parse(String caps) {
        List<Cap> found = new ArrayList<>();
        for (String clause : all(CLAUSE, caps)) {
            List<String> words = all(WORD, clause);
            if (!words.isEmpty() && words.getFirst().equals("allow")) {
                found.add(of(clause.strip(), words.subList(1, words.size())));
            }
        }
        return found;
    }

    private static Cap of(String text, List<String> words) {
        String permissions = words.stream()
                .filter(word -> PERMISSIONS.matcher(word).matches())
                .findFirst()
                .map(word -> word.equals("all") ? ALL : word)
                .orElse(COMMAND);
        Set<String> conditions = words.stream()
                .filter(word -> !PERMISSIONS.matcher(word).matches())
                .filter(word -> !isEverywhere(word))
                .map(word -> word.replace("\"", ""))
                .collect(Collectors.toSet());
        return new Cap(text, permissions, conditions);
    }

    /// Whether a condition restricts nothing.
    private static boolean isEverywhere(String word) {
        return word.equals("path=/") || word.endsWith("=*");
    }

    /// Whether this cap allows everything that `needed` allows.
    boolean covers(Cap needed) {
        boolean permits = permissions.equals(ALL)
                || needed.permissions.chars().allMatch(letter -> permissions.indexOf(letter) >= 0);
        return permits && needed.conditions.containsAll(conditions);
    }

    private static List<String> all(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(MatchResult::group).toList();
    }
}
