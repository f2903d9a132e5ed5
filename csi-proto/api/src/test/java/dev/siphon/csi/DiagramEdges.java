package dev.siphon.csi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/// The edges of a Mermaid state diagram in the docs, for the tests that compare it with what the code does.
public final class DiagramEdges {
    /// The document with the diagrams of replicas, orders and the gate, from a module's folder.
    public static final Path DOCUMENT = Path.of("..", "..", "docs", "explanation", "dataset-paths.md");

    private DiagramEdges() {}

    /// Returns the steps that label each edge. The key is `FROM --> TO`.
    ///
    /// @param edge matches a whole line, with the groups FROM, TO and the labels separated by `, `
    public static Map<String, Set<String>> in(Path document, Pattern edge) throws IOException {
        Map<String, Set<String>> edges = new TreeMap<>();
        Files.readAllLines(document).stream()
                .map(edge::matcher)
                .filter(line -> line.matches())
                .forEach(line -> edges.put(
                        line.group(1) + " --> " + line.group(2),
                        new TreeSet<>(List.of(line.group(3).split(", ", -1)))));
        return edges;
    }
}
