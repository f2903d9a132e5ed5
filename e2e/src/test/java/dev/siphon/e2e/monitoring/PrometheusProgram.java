package dev.siphon.e2e.monitoring;

import dev.siphon.e2e.lab.Project;

/// The programs of Debian's package `prometheus`, which `lab.d/programs` unpacks.
enum PrometheusProgram {
    PROMETHEUS("prometheus"),
    PROMTOOL("promtool");

    private final String command;

    PrometheusProgram(String command) {
        this.command = command;
    }

    /// Returns its path.
    String path() {
        return Project.programs("prometheus").resolve(command).toString();
    }
}
