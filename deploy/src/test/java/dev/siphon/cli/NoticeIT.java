package dev.siphon.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Compares NOTICE with what the image carries: the bills of materials of the built launcher, the Dockerfile's
/// packages, and the sidecars of go.mod.
final class NoticeIT {
    private static final Path BILLS = Path.of("target/siphon/sbom");
    /// `  LICENSE or LICENSE: LIBRARY, LIBRARY`, below the entry about Java libraries
    private static final Pattern LIBRARIES = Pattern.compile("(?m)^ {2}- ([^:]+): (.+(?:\n {4}.+)*)");

    private static final Pattern PACKAGES = Pattern.compile("for package in (.+); do");
    private static final Pattern SIDECAR = Pattern.compile("(?m)^\tgithub\\.com/kubernetes-csi/.+/cmd/(.+)$");

    private static String notice() throws IOException {
        return Files.readString(Path.of("../NOTICE"));
    }

    @Test
    void itNamesEachLibraryWithItsLicenses() throws IOException {
        Map<String, Set<String>> named = new TreeMap<>();
        LIBRARIES
                .matcher(notice())
                .results()
                .forEach(line -> named.put(
                        joined(line.group(1)),
                        new TreeSet<>(List.of(joined(line.group(2)).split(", ", -1)))));
        assertEquals(text(carried()), text(named));
    }

    private static String joined(String lines) {
        return lines.replaceAll("\n +", " ");
    }

    private static String text(Map<String, Set<String>> libraries) {
        return libraries.entrySet().stream()
                .map(each -> "  - " + each.getKey() + ": " + String.join(", ", each.getValue()))
                .collect(Collectors.joining("\n"));
    }

    /// Returns the libraries by licenses: a group's name if all of its libraries have the same ones.
    private static Map<String, Set<String>> carried() throws IOException {
        Map<String, Map<String, Set<String>>> groups = new TreeMap<>();
        for (JsonObject library : libraries()) {
            groups.computeIfAbsent(library.get("group").getAsString(), group -> new TreeMap<>())
                    .computeIfAbsent(licenses(library), licenses -> new TreeSet<>())
                    .add(library.get("name").getAsString());
        }
        Map<String, Set<String>> carried = new TreeMap<>();
        groups.forEach((group, byLicenses) -> byLicenses.forEach((licenses, names) -> {
            Set<String> named = carried.computeIfAbsent(licenses, each -> new TreeSet<>());
            if (byLicenses.size() == 1) {
                named.add(group);
            } else {
                names.forEach(name -> named.add(group + ":" + name));
            }
        }));
        return carried;
    }

    private static List<JsonObject> libraries() throws IOException {
        List<JsonObject> all = new ArrayList<>();
        try (Stream<Path> bills = Files.list(BILLS)) {
            for (Path bill : bills.toList()) {
                JsonParser.parseString(Files.readString(bill))
                        .getAsJsonObject()
                        .getAsJsonArray("components")
                        .asList()
                        .stream()
                        .map(JsonElement::getAsJsonObject)
                        .filter(each -> !"dev.siphon".equals(each.get("group").getAsString()))
                        .forEach(all::add);
            }
        }
        assertFalse(all.isEmpty(), BILLS + " lists nothing");
        return all;
    }

    private static String licenses(JsonObject library) {
        assertTrue(library.has("licenses"), () -> "without a license: " + library.get("purl"));
        return library.getAsJsonArray("licenses").asList().stream()
                .map(JsonElement::getAsJsonObject)
                .map(each -> each.has("expression") ? each : each.getAsJsonObject("license"))
                .map(each -> Stream.of("expression", "id", "name")
                        .filter(each::has)
                        .map(key -> each.get(key).getAsString())
                        .findFirst()
                        .orElseThrow())
                .sorted()
                .collect(Collectors.joining(" or "));
    }

    @Test
    void itNamesThePackagesOfTheDockerfile() throws IOException {
        String packages = found(PACKAGES, Path.of("Dockerfile")).getFirst();
        for (String each : packages.split(" ", -1)) {
            assertTrue(names(each), "NOTICE does not name the package " + each);
        }
    }

    @Test
    void itNamesTheSidecars() throws IOException {
        for (String each : found(SIDECAR, Path.of("sidecars/go.mod"))) {
            assertTrue(names(each), "NOTICE does not name the sidecar " + each);
        }
    }

    private static boolean names(String word) throws IOException {
        return Pattern.compile("(?<![\\w-])" + Pattern.quote(word) + "(?![\\w-])")
                .matcher(notice())
                .find();
    }

    private static List<String> found(Pattern pattern, Path file) throws IOException {
        List<String> found = pattern.matcher(Files.readString(file))
                .results()
                .map(match -> match.group(1))
                .toList();
        assertFalse(found.isEmpty(), file + " has no " + pattern);
        return found;
    }
}
