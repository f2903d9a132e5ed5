package dev.siphon.controller.kubernetes;

import java.util.LinkedHashMap;
import java.util.Map;

/// Equal values that many objects have, each kept once: of different ones the 1,000 that were asked for last.
///
/// For one thread at a time.
final class Interned<T> {
    private static final int MOST = 1_000;

    private final Map<T, T> values = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<T, T> eldest) {
            return size() > MOST;
        }
    };

    /// The value that was given first of those that are equal to it.
    T of(T value) {
        return values.computeIfAbsent(value, own -> own);
    }
}
