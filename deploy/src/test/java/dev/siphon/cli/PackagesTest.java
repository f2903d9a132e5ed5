package dev.siphon.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// Checks that picture and tables of docs/explanation/architecture.md, "Modules and packages", match the code.
/// Each package lies in one module and is listed once. It depends only on packages below it in its table, and on
/// the modules below its own.
final class PackagesTest {
    private static final String ROOT = "dev.siphon.";
    private static final Pattern ROW = Pattern.compile("\\| `([a-z.]+)` \\| .*");
    private static final Pattern HEAD = Pattern.compile("\\| ([a-z/-]+) \\| \\|");

    private static final String API = "csi-proto/api";
    private static final String RUNTIME = "csi-proto/runtime";
    private static final String LINUX = "node/linux";
    private static final String SERVICE = "controller/service";

    /// The picture: each module with those that it may use.
    private static final Map<String, List<String>> BELOW = Map.of(
            "deploy",
            List.of("controller/admin", SERVICE, "node/plugin", "node/packer", LINUX, RUNTIME, API),
            "controller/admin",
            List.of(SERVICE, RUNTIME, API),
            SERVICE,
            List.of(RUNTIME, API),
            "node/plugin",
            List.of(LINUX, RUNTIME, API),
            "node/packer",
            List.of(LINUX, API),
            LINUX,
            List.of(API),
            RUNTIME,
            List.of(API),
            API,
            List.of());

    /// The place of a package.
    private record Row(String module, int number) {
        boolean mayUse(Row other) {
            return module.equals(other.module)
                    ? number <= other.number
                    : BELOW.getOrDefault(module, List.of()).contains(other.module);
        }
    }

    @Test
    void eachPackageStandsInTheTableOfItsModule() throws IOException {
        TreeSet<String> there = new TreeSet<>();
        SiphonClasses.ALL.stream()
                .filter(each -> !packageOf(each).endsWith(".v1"))
                .forEach(each -> there.add(packageOf(each) + " in " + moduleOf(each)));
        TreeSet<String> listed = new TreeSet<>();
        rows().forEach((name, row) -> listed.add(name + " in " + row.module()));
        assertEquals(there, listed);
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

    /// Returns the module's folder. Its classes lie in `target`, or in a jar there.
    private static String moduleOf(JavaClass each) {
        String from = each.getSource().orElseThrow().getUri().toString();
        Path project = Path.of("").toAbsolutePath().getParent();
        Matcher found = Pattern.compile(Pattern.quote(project + "/") + "([a-z/-]+)/target/")
                .matcher(from);
        return found.find() ? found.group(1) : from;
    }

    private static Map<String, Row> rows() throws IOException {
        Map<String, Row> rows = new LinkedHashMap<>();
        String module = "";
        for (String line : Files.readAllLines(Path.of("..", "docs", "explanation", "architecture.md"))) {
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
