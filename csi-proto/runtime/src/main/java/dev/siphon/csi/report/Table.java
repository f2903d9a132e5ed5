package dev.siphon.csi.report;

import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/// The result of a command: aligned columns for people, one JSON object per row for scripts.
public final class Table {
    private static final int KILO = 1024;
    private static final String UNITS = "KMGTPE";

    private final List<String> columns;
    private final List<List<Cell>> rows = new ArrayList<>();

    /// @param columns their names in lower case: the keys in JSON, and the headings in upper case
    public Table(String... columns) {
        this.columns = List.of(columns);
    }

    /// The content of one row in one column.
    public sealed interface Cell {
        record Text(String text) implements Cell {}

        record Count(long number) implements Cell {}

        /// A size: bytes in JSON, with a unit for people.
        record Bytes(long bytes) implements Cell {}
    }

    /// Adds a row, with one cell per column.
    public void row(Cell... cells) {
        if (cells.length != columns.size()) {
            throw new IllegalArgumentException(cells.length + " cells for " + columns);
        }
        rows.add(List.of(cells));
    }

    /// Returns the number of rows.
    public int size() {
        return rows.size();
    }

    /// Returns a heading and one line per row; two spaces separate the columns.
    public List<String> text() {
        List<List<String>> lines = new ArrayList<>();
        lines.add(columns.stream().map(name -> name.toUpperCase(Locale.ROOT)).toList());
        rows.forEach(row -> lines.add(row.stream().map(Table::shown).toList()));
        int[] widths = IntStream.range(0, columns.size())
                .map(i -> lines.stream()
                        .mapToInt(line -> line.get(i).length())
                        .max()
                        .orElse(0))
                .toArray();
        return lines.stream().map(line -> aligned(line, widths)).toList();
    }

    /// Returns one JSON object per row, each on its own line.
    public List<String> json() {
        return rows.stream().map(row -> object(row).toString()).toList();
    }

    private JsonObject object(List<Cell> row) {
        JsonObject object = new JsonObject();
        for (int i = 0; i < row.size(); i++) {
            switch (row.get(i)) {
                case Cell.Text it -> object.addProperty(columns.get(i), it.text());
                case Cell.Count it -> object.addProperty(columns.get(i), it.number());
                case Cell.Bytes it -> object.addProperty(columns.get(i), it.bytes());
            }
        }
        return object;
    }

    private static String aligned(List<String> cells, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < cells.size(); i++) {
            line.append(cells.get(i)).repeat(' ', widths[i] - cells.get(i).length() + 2);
        }
        return line.toString().stripTrailing();
    }

    /// Formats a cell for people.
    public static String shown(Cell cell) {
        return switch (cell) {
            case Cell.Text it -> it.text();
            case Cell.Count it -> Long.toString(it.number());
            case Cell.Bytes it -> size(it.bytes());
        };
    }

    /// Formats a size for people: `512 B`, `1.5 GiB`.
    static String size(long bytes) {
        if (bytes < KILO) {
            return bytes + " B";
        }
        int unit = 0;
        double value = (double) bytes / KILO;
        while (value >= KILO && unit < UNITS.length() - 1) {
            value /= KILO;
            unit++;
        }
        String number = String.format(Locale.ROOT, "%.1f", value);
        return (number.endsWith(".0") ? number.substring(0, number.length() - 2) : number) + " " + UNITS.charAt(unit)
                + "iB";
    }
}
