package dev.siphon.csi.server;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;

/// Counts and times RPCs by method and code: `siphon_rpc_total`, `siphon_rpc_duration_seconds` and
/// `siphon_rpc_in_flight`. No label holds a value that a caller may choose.
public final class RpcMetrics implements ServerInterceptor {
    private final Counter total;
    private final Histogram duration;
    private final Gauge inFlight;

    public RpcMetrics(PrometheusRegistry registry) {
        total = Counter.builder()
                .name("siphon_rpc_total")
                .help("RPCs answered.")
                .labelNames("method", "code")
                .register(registry);
        duration = Histogram.builder()
                .name("siphon_rpc_duration_seconds")
                .help("Time from an RPC's arrival to its answer.")
                .classicOnly()
                .classicUpperBounds(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60)
                .labelNames("method", "code")
                .register(registry);
        inFlight = Gauge.builder()
                .name("siphon_rpc_in_flight")
                .help("RPCs that have arrived but are not yet answered.")
                .register(registry);
    }

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        long startNanos = System.nanoTime();
        String method = ObservedCall.method(call);
        inFlight.inc();
        return ObservedCall.start(call, headers, next, status -> {
            inFlight.dec();
            String code = status.getCode().name();
            total.labelValues(method, code).inc();
            duration.labelValues(method, code).observe((System.nanoTime() - startNanos) / 1e9);
        });
    }
}
