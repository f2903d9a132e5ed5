package dev.siphon.e2e.monitoring;

import java.nio.file.Path;
import java.util.Objects;

/// The programs of Debian's package `prometheus`, which `lab.d/prometheus` unpacks.
enum PrometheusProgram {
    PROMETHEUS("prometheus"),
    PROMTOOL("promtool");

    private final String command;

    PrometheusProgram(String command) {
        this.command = command;
    }

    /// Returns its path.
    String path() {
        String lab = Objects.requireNonNull(System.getenv("SIPHON_LAB_DIR"), "runs in a lab only");
        return Path.of(lab, "prometheus", command).toString();
    }
}
