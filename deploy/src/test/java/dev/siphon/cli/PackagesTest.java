package dev.siphon.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// Checks that the tables of docs/architecture.md, "Modules and packages", match the code. Each package is listed
/// once, and depends only on csi-proto and on packages below it in its table.
final class PackagesTest {
    private static final String ROOT = "dev.siphon.";
    private static final Pattern ROW = Pattern.compile("\\| `([a-z.]+)` \\| .*");
    private static final Pattern HEAD = Pattern.compile("\\| ([a-z-]+) \\| \\|");

    /// The place of a package.
    private record Row(String module, int number) {
        boolean mayUse(Row other) {
            return module.equals(other.module)
                    ? number <= other.number
                    : module.equals("deploy") || other.module.equals("csi-proto");
        }
    }

    @Test
    void eachPackageStandsInOneTable() throws IOException {
        TreeSet<String> there = new TreeSet<>();
        SiphonClasses.ALL.stream()
                .map(PackagesTest::packageOf)
                .filter(each -> !each.endsWith(".v1"))
                .forEach(there::add);
        assertEquals(there, new TreeSet<>(rows().keySet()));
    }

    @Test
    void aPackageDependsOnThoseBelowIt() throws IOException {
        Map<String, Row> rows = rows();
        TreeSet<String> upwards = new TreeSet<>();
        for (JavaClass each : SiphonClasses.ALL) {
            Row from = rows.get(packageOf(each));
            each.getDirectDependenciesFromSelf().forEach(dependency -> {
                Row to = rows.get(packageOf(dependency.getTargetClass()));
                if (from != null && to != null && !from.mayUse(to)) {
                    upwards.add(packageOf(each) + " uses " + packageOf(dependency.getTargetClass()));
                }
            });
        }
        assertEquals(new TreeSet<>(), upwards);
    }

    private static String packageOf(JavaClass each) {
        String name = each.getPackageName();
        return name.startsWith(ROOT) ? name.substring(ROOT.length()) : name;
    }

    private static Map<String, Row> rows() throws IOException {
        Map<String, Row> rows = new LinkedHashMap<>();
        String module = "";
        for (String line : Files.readAllLines(Path.of("..", "docs", "architecture.md"))) {
            var head = HEAD.matcher(line);
            var row = ROW.matcher(line);
            if (head.matches()) {
                module = head.group(1);
            } else if (!module.isEmpty() && row.matches()) {
                assertEquals(null, rows.put(row.group(1), new Row(module, rows.size())), row.group(1) + " twice");
            }
        }
        return rows;
    }
}
