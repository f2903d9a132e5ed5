package dev.siphon.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Checks the chart's alerts against their runbook, the sections of docs/reference/metrics.md.
final class AlertsTest {
    /// Whoever is on call reads no more.
    private static final int MOST = 10;

    private static final String PAGE = "docs/reference/metrics.md";
    private static final Set<String> SEVERITIES = Set.of("critical", "warning");

    private static List<JsonNode> alerts() throws IOException {
        ObjectMapper json = new ObjectMapper();
        Map<?, ?> rules = new KubernetesSerialization(json, false)
                .unmarshal(Files.readString(Path.of("chart/files/alerts.yaml")), Map.class);
        return elements(json.<JsonNode>valueToTree(rules).path("groups"))
                .flatMap(group -> elements(group.path("rules")))
                .toList();
    }

    private static Stream<JsonNode> elements(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false);
    }

    private static String section(String alert) throws IOException {
        String page = Files.readString(Path.of("..", PAGE));
        String heading = "\n### " + alert + "\n";
        assertTrue(page.contains(heading), () -> PAGE + " has no section " + alert);
        String rest = page.substring(page.indexOf(heading) + heading.length());
        return rest.substring(0, rest.indexOf("\n#"));
    }

    @Test
    void thereAreAtMostTenEachWithItsOwnName() throws IOException {
        List<String> names =
                alerts().stream().map(alert -> alert.path("alert").asText()).toList();
        assertTrue(!names.isEmpty() && names.size() <= MOST, names::toString);
        assertEquals(names.size(), new TreeSet<>(names).size(), names::toString);
    }

    @ParameterizedTest
    @MethodSource("alerts")
    void eachNamesItsSectionWhichSaysWhatToDo(JsonNode alert) throws IOException {
        String name = alert.path("alert").asText();
        assertEquals(
                PAGE + "#" + name.toLowerCase(Locale.ROOT),
                alert.at("/annotations/runbook").asText());
        assertTrue(section(name).length() > 80, () -> name + ": " + PAGE + " says too little");
        assertTrue(!alert.at("/annotations/summary").asText().isBlank(), name);
        assertTrue(SEVERITIES.contains(alert.at("/labels/severity").asText()), name);
    }
}
