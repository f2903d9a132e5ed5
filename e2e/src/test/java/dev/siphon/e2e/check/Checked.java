package dev.siphon.e2e.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.e2e.lab.Command;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The output of one run of `siphon check`.
///
/// @param lines by the name of the check
record Checked(int exit, String output, Map<String, JsonObject> lines, Duration took) {
    /// Runs the command with `--json`.
    static Checked run(List<String> command) {
        List<String> words = new ArrayList<>(command);
        words.add("--json");
        long begin = System.nanoTime();
        Command.Result result = Command.attempt(words.toArray(String[]::new));
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        Map<String, JsonObject> lines = new LinkedHashMap<>();
        result.output().lines().filter(line -> line.startsWith("{")).forEach(line -> {
            JsonObject object = JsonParser.parseString(line).getAsJsonObject();
            lines.put(object.get("check").getAsString(), object);
        });
        assertFalse(lines.isEmpty(), result.output());
        return new Checked(result.exit(), result.output(), lines, took);
    }

    /// Returns the result of each check, in order.
    Map<String, String> results() {
        Map<String, String> results = new LinkedHashMap<>();
        lines.forEach((what, line) -> results.put(what, line.get("result").getAsString()));
        return results;
    }

    String found(String what) {
        return text(what, "found");
    }

    /// Fails unless this check failed with such a finding and remedy.
    void failed(String what, String found, String remedy) {
        assertEquals("failed", text(what, "result"), output);
        assertTrue(text(what, "found").contains(found), output);
        assertTrue(text(what, "remedy").contains(remedy), output);
        assertEquals(1, exit, output);
    }

    private String text(String what, String key) {
        assertTrue(lines.containsKey(what), what + " is not in " + output);
        return lines.getOrDefault(what, new JsonObject()).get(key).getAsString();
    }
}
