package dev.siphon.controller.kubernetes;

import java.util.LinkedHashMap;
import java.util.Map;

/// Keeps one instance of equal values that many objects share: at most 1,000, those used last.
///
/// Not thread-safe.
final class Interned<T> {
    private static final int MOST = 1_000;

    private final Map<T, T> values = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<T, T> eldest) {
            return size() > MOST;
        }
    };

    /// Returns the kept instance that equals a value; keeps the value if there is none.
    T of(T value) {
        return values.computeIfAbsent(value, own -> own);
    }
}
