package dev.siphon.controller.ceph.call;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/// How often one operation went to which daemons of Ceph; what was answered from a client's cache counts too.
public final class RoundTrips {
    private static final ScopedValue<RoundTrips> CURRENT = ScopedValue.newInstance();

    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();

    /// Runs `body` and counts into this object what it does on this thread.
    public <T> T count(Supplier<T> body) {
        return ScopedValue.where(CURRENT, this).call(body::get);
    }

    /// The number so far by daemon type (`mon`, `mgr`, `mds`), types without any left out.
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
