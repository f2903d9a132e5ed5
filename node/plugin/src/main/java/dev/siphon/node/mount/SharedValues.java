package dev.siphon.node.mount;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// Values by key, such as a lock for each dataset. The first user of a key creates its value, concurrent users
/// share it, and the last one removes it unless it should stay. Thread-safe.
public final class SharedValues<K, V> {
    private final Map<K, Entry<V>> entries = new ConcurrentHashMap<>();
    private final Function<K, V> make;
    private final Predicate<V> stays;

    private record Entry<V>(V value, int users) {}

    /// @param make creates the value of a key; must not block
    /// @param stays whether an unused value stays; must not block
    public SharedValues(Function<K, V> make, Predicate<V> stays) {
        this.make = make;
        this.stays = stays;
    }

    /// A value in use, until it is closed.
    public final class Used implements AutoCloseable {
        private final K key;
        private final V value;

        private Used(K key) {
            this.key = key;
            this.value = taken(key);
        }

        public V value() {
            return value;
        }

        @Override
        public void close() {
            given(key);
        }
    }

    /// Returns the value of `key`, to be closed after its use.
    public Used use(K key) {
        return new Used(key);
    }

    /// Runs `body` with the value of `key`.
    public <T> T use(K key, Function<V, T> body) {
        try (Used used = use(key)) {
            return body.apply(used.value());
        }
    }

    /// Same as [#use], without a result.
    public void with(K key, Consumer<V> body) {
        use(key, value -> {
            body.accept(value);
            return value;
        });
    }

    private V taken(K key) {
        Entry<V> taken = entries.compute(
                key, (_, now) -> now == null ? new Entry<>(make.apply(key), 1) : new Entry<>(now.value, now.users + 1));
        return taken.value;
    }

    private void given(K key) {
        entries.computeIfPresent(
                key,
                (_, now) -> now.users == 1 && !stays.test(now.value) ? null : new Entry<>(now.value, now.users - 1));
    }

    /// Returns the keys that have a value.
    public Stream<K> keys() {
        return entries.keySet().stream();
    }

    /// Returns the current values, for reading only.
    public Stream<V> values() {
        return entries.values().stream().map(Entry::value);
    }
}
