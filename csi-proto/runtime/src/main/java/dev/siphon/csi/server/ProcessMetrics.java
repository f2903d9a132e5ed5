package dev.siphon.csi.server;

import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Info;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.DoubleSupplier;

/// Metrics of the process itself, from `/proc/self/status` (proc_pid_status(5)) and the runtime. JMX is not used:
/// it would cost too much memory.
final class ProcessMetrics {
    private static final Path STATUS = Path.of("/proc/self/status");

    private ProcessMetrics() {}

    static void register(PrometheusRegistry registry, BuildInfo build, Readiness readiness) {
        Instant start = ProcessHandle.current().info().startInstant().orElseGet(Instant::now);
        Runtime runtime = Runtime.getRuntime();
        gauge(registry, "process_start_time_seconds", "When the process started.", () -> start.toEpochMilli() / 1e3);
        gauge(
                registry,
                "process_uptime_seconds",
                "How long the process has run.",
                () -> Duration.between(start, Instant.now()).toMillis() / 1e3);
        gauge(registry, "process_resident_memory_bytes", "Resident memory.", () -> status("VmRSS:") * 1024);
        gauge(registry, "process_threads", "Operating system threads.", () -> status("Threads:"));
        gauge(registry, "jvm_heap_used_bytes", "Heap in use.", () -> runtime.totalMemory() - runtime.freeMemory());
        gauge(registry, "jvm_heap_committed_bytes", "Heap committed.", runtime::totalMemory);
        gauge(
                registry,
                "siphon_ready",
                "1 if the driver is ready, else 0.",
                () -> readiness.state().ready() ? 1 : 0);
        Info.builder()
                .name("siphon_build_info")
                .help("The running build.")
                .labelNames("version", "revision")
                .register(registry)
                .setLabelValues(build.version(), build.revision());
    }

    private static void gauge(PrometheusRegistry registry, String name, String help, DoubleSupplier value) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .callback(callback -> callback.call(value.getAsDouble()))
                .register(registry);
    }

    /// Returns the number in the line that starts with `key`; 0 if there is none.
    private static long status(String key) {
        try {
            List<String> lines = Files.readAllLines(STATUS);
            return lines.stream()
                    .filter(line -> line.startsWith(key))
                    .map(line -> line.substring(key.length()).strip().split(" ", 2)[0])
                    .mapToLong(Long::parseLong)
                    .findFirst()
                    .orElse(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
