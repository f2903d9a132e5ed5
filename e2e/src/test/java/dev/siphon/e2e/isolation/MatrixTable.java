package dev.siphon.e2e.isolation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;

/// Who refused what, as the table of `docs/explanation/isolation.md`. `make security-table` updates the document.
final class MatrixTable {
    private static final String BEGIN = "<!-- written by IsolationMatrixIT: make security-table -->\n";
    private static final String END = "<!-- end -->";

    private final Map<String, Map<String, String>> rows = new LinkedHashMap<>();

    void put(String attack, String column, Verdict verdict) {
        String cell = switch (verdict) {
            case Verdict.Refused refused -> refused.by().toString();
            case Verdict.Done _ -> "**open**";
        };
        rows.computeIfAbsent(attack, _ -> new LinkedHashMap<>()).put(column, cell);
    }

    private String text() {
        Map<String, String> first = rows.values().iterator().next();
        StringBuilder text = new StringBuilder(
                "| with the key of one volume of u1, on | " + String.join(" | ", first.keySet()) + " |\n");
        text.append("| --- ".repeat(first.size() + 1)).append("|\n");
        rows.forEach((attack, cells) -> text.append("| ")
                .append(attack)
                .append(" | ")
                .append(String.join(" | ", cells.values()))
                .append(" |\n"));
        return text.toString();
    }

    /// Writes the table below `target` and compares it with the document's.
    void check() throws IOException {
        Path written = Project.folder().resolve("e2e/target/isolation-matrix.md");
        Files.writeString(written, text());
        String document = Files.readString(Project.folder().resolve("docs/explanation/isolation.md"));
        int begin = document.indexOf(BEGIN);
        int end = document.indexOf(END, begin);
        String shown = begin < 0 || end < 0 ? "" : document.substring(begin + BEGIN.length(), end);
        assertEquals(
                text(),
                shown,
                "docs/explanation/isolation.md differs; make security-table writes it. Columns: "
                        + new TreeSet<>(rows.values().iterator().next().keySet()));
    }
}
