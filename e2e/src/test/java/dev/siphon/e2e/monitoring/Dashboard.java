package dev.siphon.e2e.monitoring;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.e2e.lab.Project;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/// The chart's Grafana board.
final class Dashboard {
    /// Grafana puts four scrape intervals here.
    private static final String INTERVAL = "$__rate_interval";

    private Dashboard() {}

    /// One query of a panel.
    record PanelQuery(String panel, String expression) {
        @Override
        public String toString() {
            return panel + ": " + expression;
        }
    }

    /// Returns all queries of all panels, as Grafana sends them.
    static List<PanelQuery> queries() {
        try {
            String text = Files.readString(Project.folder().resolve("deploy/chart/files/dashboard.json"));
            return objects(JsonParser.parseString(text).getAsJsonObject(), "panels")
                    .flatMap(panel -> objects(panel, "targets")
                            .map(target -> new PanelQuery(
                                    panel.get("title").getAsString(),
                                    target.get("expr").getAsString().replace(INTERVAL, "10s"))))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<JsonObject> objects(JsonObject holder, String list) {
        return holder.has(list)
                ? StreamSupport.stream(holder.getAsJsonArray(list).spliterator(), false)
                        .map(JsonElement::getAsJsonObject)
                : Stream.empty();
    }
}
