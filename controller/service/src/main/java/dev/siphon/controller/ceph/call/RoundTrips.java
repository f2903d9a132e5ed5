package dev.siphon.controller.ceph.call;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/// Counts the requests of one operation by type of Ceph daemon. Replies from a client's cache count too.
public final class RoundTrips {
    private static final ScopedValue<RoundTrips> CURRENT = ScopedValue.newInstance();

    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();

    /// Runs `body` and counts its requests on this thread.
    public <T> T count(Supplier<T> body) {
        return ScopedValue.where(CURRENT, this).call(body::get);
    }

    /// Returns the counts so far by daemon type (`mon`, `mgr`, `mds`), without types that have none.
    public Map<String, Long> byDaemon() {
        Map<String, Long> result = new TreeMap<>();
        counts.forEach((daemon, count) -> result.put(daemon, count.sum()));
        return result;
    }

    static void add(String daemon) {
        if (CURRENT.isBound()) {
            CURRENT.get().counts.computeIfAbsent(daemon, _ -> new LongAdder()).increment();
        }
    }
}
