package dev.siphon.e2e.bench;

import com.google.gson.JsonObject;
import java.io.PrintStream;

/// The bounds of a benchmark. Prints a line for each and records whether all were met.
final class Bounds {
    private final PrintStream out;
    private final JsonObject common;
    private boolean allMet = true;

    Bounds(PrintStream out) {
        this(out, new JsonObject());
    }

    /// @param common the fields that each line begins with
    Bounds(PrintStream out, JsonObject common) {
        this.out = out;
        this.common = common.deepCopy();
    }

    /// Reports whether `value` is at most `limit`.
    void atMost(String what, double value, double limit) {
        report(what, value, "at_most", limit, value <= limit);
    }

    /// Reports whether `value` is at least `limit`.
    void atLeast(String what, double value, double limit) {
        report(what, value, "at_least", limit, value >= limit);
    }

    private void report(String what, double value, String kind, double limit, boolean met) {
        JsonObject line = common.deepCopy();
        line.addProperty("bound", what);
        line.addProperty("value", Timings.rounded(value));
        line.addProperty(kind, limit);
        line.addProperty("met", met);
        out.println(line);
        allMet &= met;
    }

    /// Returns whether every bound was met.
    boolean allMet() {
        return allMet;
    }
}
