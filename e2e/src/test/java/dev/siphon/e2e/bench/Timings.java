package dev.siphon.e2e.bench;

import com.google.gson.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The durations of a load's calls.
///
/// @param sortedNanos of the calls that succeeded, ascending
/// @param errors the number of failed calls
/// @param wall from the first call's start to the last call's end
record Timings(List<Long> sortedNanos, int errors, Duration wall) {
    Timings {
        sortedNanos = sortedNanos.stream().sorted().toList();
    }

    /// Combines several loads.
    static Timings together(List<Timings> parts) {
        List<Long> all = new ArrayList<>();
        parts.forEach(part -> all.addAll(part.sortedNanos));
        return new Timings(
                all,
                parts.stream().mapToInt(Timings::errors).sum(),
                parts.stream().map(Timings::wall).reduce(Duration.ZERO, Duration::plus));
    }

    /// Returns the time in ms within which the share `quantile` of the calls succeeded (nearest rank); NaN if none
    /// did.
    double millis(double quantile) {
        if (sortedNanos.isEmpty()) {
            return Double.NaN;
        }
        int rank = (int) Math.ceil(quantile * sortedNanos.size());
        return sortedNanos.get(Math.max(0, rank - 1)) / 1e6;
    }

    /// Returns the number of successful calls per second.
    double perSecond() {
        return sortedNanos.size() / (wall.toNanos() / 1e9);
    }

    /// Returns the line that the benchmark prints.
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

    /// Rounds to three decimals; null, for JSON, if `value` is not finite.
    @SuppressWarnings("NullAway") // gson writes null for a value that is not finite
    static Double rounded(double value) {
        return Double.isFinite(value) ? Math.round(value * 1000) / 1000.0 : null;
    }

    /// Returns the median.
    static double median(List<Double> values) {
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}
