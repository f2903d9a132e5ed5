package dev.siphon.cli;

import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toSet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaConstructor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// docs/reference/errors.md says where each rule is decided, as `Class#method`: of a nested type
/// `Outer.Inner#method`, of a constructor `Class#new`. Other pages name methods too. Whoever renames one has to
/// rename it there.
final class DecisionsTest {
    private static final Path DOCS = Path.of("..", "docs");
    private static final Path TABLES = DOCS.resolve(Path.of("reference", "errors.md"));

    /// What stands in backticks and has a `#` in it.
    private static final Pattern REFERENCE = Pattern.compile("`([\\w.$]+#[\\w.$]+)(?:\\(\\))?`");

    private static final Set<String> METHODS = methods();

    @Test
    void everyMethodThatAPageNamesExists() throws IOException {
        assertFalse(references(Files.readString(TABLES)).isEmpty(), TABLES + " names no method");
        SortedMap<Path, SortedSet<String>> wrong = new TreeMap<>();
        for (Path page : pages()) {
            SortedSet<String> unknown = unknown(references(Files.readString(page)));
            if (!unknown.isEmpty()) {
                wrong.put(page, unknown);
            }
        }
        assertEquals(new TreeMap<>(), wrong);
    }

    /// Returns all pages but the decisions, which keep the names of their time.
    private static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.walk(DOCS)) {
            return files.filter(each -> each.toString().endsWith(".md") && !each.startsWith(DOCS.resolve("adr")))
                    .toList();
        }
    }

    @Test
    void aNameThatIsWrongIsFound() {
        String text =
                "| `VolumeRequest.CapacityRange#new`, `VolumeRequest.CapacityRange#resolveSize` | `Owners.OwnerRule.OfNamespace#accountOf` |"
                        + " `VolumeRequest.CapacityRange#gone` | `Gone#resolveSize` | `OfNamespace#accountOf` | no `code` |";
        assertEquals(
                Set.of("VolumeRequest.CapacityRange#gone", "Gone#resolveSize", "OfNamespace#accountOf"),
                unknown(references(text)));
    }

    private static SortedSet<String> references(String text) {
        return REFERENCE.matcher(text).results().map(found -> found.group(1)).collect(toCollection(TreeSet::new));
    }

    private static SortedSet<String> unknown(SortedSet<String> named) {
        SortedSet<String> unknown = new TreeSet<>(named);
        unknown.removeAll(METHODS);
        return unknown;
    }

    private static Set<String> methods() {
        return SiphonClasses.ALL.stream().flatMap(DecisionsTest::methods).collect(toSet());
    }

    private static Stream<String> methods(JavaClass type) {
        String name =
                type.getName().substring(type.getPackageName().length() + 1).replace('$', '.');
        return type.getCodeUnits().stream().map(unit -> name + "#" + name(unit));
    }

    private static String name(JavaCodeUnit unit) {
        return unit instanceof JavaConstructor ? "new" : unit.getName();
    }
}
