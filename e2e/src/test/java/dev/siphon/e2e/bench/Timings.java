package dev.siphon.e2e.bench;

import com.google.gson.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// How long the calls of a load took.
///
/// @param sortedNanos of the calls that succeeded, from the shortest to the longest
/// @param errors how many did not succeed
/// @param wall from the first call's start to the last one's end
record Timings(List<Long> sortedNanos, int errors, Duration wall) {
    Timings {
        sortedNanos = sortedNanos.stream().sorted().toList();
    }

    /// The calls of several loads together.
    static Timings together(List<Timings> parts) {
        List<Long> all = new ArrayList<>();
        parts.forEach(part -> all.addAll(part.sortedNanos));
        return new Timings(
                all,
                parts.stream().mapToInt(Timings::errors).sum(),
                parts.stream().map(Timings::wall).reduce(Duration.ZERO, Duration::plus));
    }

    /// The time in ms within which the share `quantile` of the calls was answered (nearest rank); NaN without
    /// any.
    double millis(double quantile) {
        if (sortedNanos.isEmpty()) {
            return Double.NaN;
        }
        int rank = (int) Math.ceil(quantile * sortedNanos.size());
        return sortedNanos.get(Math.max(0, rank - 1)) / 1e6;
    }

    /// Calls that succeeded per second.
    double perSecond() {
        return sortedNanos.size() / (wall.toNanos() / 1e9);
    }

    /// The line that the benchmark prints.
    String json(String rpc, int callers) {
        JsonObject line = new JsonObject();
        line.addProperty("rpc", rpc);
        line.addProperty("callers", callers);
        line.addProperty("n", sortedNanos.size() + errors);
        line.addProperty("p50_ms", rounded(millis(0.5)));
        line.addProperty("p99_ms", rounded(millis(0.99)));
        line.addProperty("per_s", rounded(perSecond()));
        line.addProperty("errors", errors);
        return line.toString();
    }

    /// Three decimals; null in JSON where there is no number.
    @SuppressWarnings("NullAway") // gson writes null for a number that is none
    static Double rounded(double value) {
        return Double.isFinite(value) ? Math.round(value * 1000) / 1000.0 : null;
    }

    /// The middle one.
    static double median(List<Double> values) {
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
