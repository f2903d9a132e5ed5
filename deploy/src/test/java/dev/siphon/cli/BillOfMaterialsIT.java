package dev.siphon.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Compares the bills of materials of the built launcher with its jars.
final class BillOfMaterialsIT {
    private static final Path SIPHON = Path.of("target/siphon");
    private static final Pattern CLASSIFIER = Pattern.compile("[?&]classifier=([^&]+)");
    private static final Pattern GRPC = Pattern.compile("<grpc.version>(.+)</grpc.version>");

    private static List<Path> files(Path below, String suffix) throws IOException {
        try (Stream<Path> all = Files.walk(below)) {
            return all.filter(file -> file.getFileName().toString().endsWith(suffix))
                    .toList();
        }
    }

    private static JsonObject bill(Path file) {
        try {
            return JsonParser.parseString(Files.readString(file)).getAsJsonObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<JsonObject> components(JsonObject bill) {
        return bill.getAsJsonArray("components").asList().stream().map(JsonElement::getAsJsonObject);
    }

    private static String jar(JsonObject component) {
        Matcher classifier = CLASSIFIER.matcher(component.get("purl").getAsString());
        return component.get("name").getAsString() + "-"
                + component.get("version").getAsString()
                + (classifier.find() ? "-" + classifier.group(1) : "") + ".jar";
    }

    @Test
    void togetherTheyListExactlyTheJars() throws IOException {
        Set<String> jars = files(SIPHON.resolve("lib"), ".jar").stream()
                .map(jar -> jar.getFileName().toString())
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> listed = files(SIPHON.resolve("sbom"), ".cdx.json").stream()
                .map(BillOfMaterialsIT::bill)
                .flatMap(bill -> Stream.concat(
                        Stream.of(bill.getAsJsonObject("metadata").getAsJsonObject("component")), components(bill)))
                .map(BillOfMaterialsIT::jar)
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(jars, listed);
    }

    @Test
    void eachProcessHasOneThatListsNettyWithTheVersionOfThePom() throws IOException {
        Matcher version = GRPC.matcher(Files.readString(Path.of("../pom.xml")));
        assertTrue(version.find());
        String purl = "pkg:maven/io.grpc/grpc-netty-shaded@" + version.group(1) + "?type=jar";
        for (String part : List.of("controller", "admin", "node", "packer", "cli")) {
            Path file = SIPHON.resolve("sbom").resolve(part + ".cdx.json");
            assertTrue(
                    components(bill(file))
                            .anyMatch(each -> each.get("purl").getAsString().equals(purl)),
                    file + " has no " + purl);
        }
    }
}
