package dev.siphon.csi;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/// A bounded queue that is fair between owners. Owners take turns. When the queue is full, the owner with the most
/// items loses one to an owner with few. Thread-safe.
public final class FairQueue<T> {
    private final int most;

    /// In order of turns, the next owner first. No list is empty.
    private final Map<String, ArrayDeque<T>> waiting = new LinkedHashMap<>();

    private int size;

    /// @param most maximum number of items of all owners together
    public FairQueue(int most) {
        this.most = most;
    }

    /// Adds an item behind all others of its owner.
    ///
    /// @return the dropped item if the queue is full: the newest of the owner with the most items, or `item` itself
    ///     if its owner would then have as many
    public synchronized Optional<T> add(String owner, T item) {
        Optional<T> out = size < most ? Optional.empty() : makeRoom(count(owner) + 1);
        if (size == most) {
            return Optional.of(item);
        }
        waiting.computeIfAbsent(owner, _ -> new ArrayDeque<>()).addLast(item);
        size++;
        return out;
    }

    private int count(String owner) {
        return Optional.ofNullable(waiting.get(owner)).map(ArrayDeque::size).orElse(0);
    }

    /// Removes the newest item of the owner with the most, if it has more than `less`.
    private Optional<T> makeRoom(int less) {
        Optional<T> out = waiting.values().stream()
                .max(Comparator.comparingInt(ArrayDeque::size))
                .filter(items -> items.size() > less)
                .map(ArrayDeque::removeLast);
        if (out.isPresent()) {
            size--;
        }
        return out;
    }

    /// Removes and returns the oldest item of the next owner, and moves that owner to the end.
    ///
    /// @param may selects the owners that may have a turn
    public synchronized Optional<T> next(Predicate<String> may) {
        Iterator<Map.Entry<String, ArrayDeque<T>>> owners = waiting.entrySet().iterator();
        while (owners.hasNext()) {
            Map.Entry<String, ArrayDeque<T>> owner = owners.next();
            if (may.test(owner.getKey())) {
                owners.remove();
                ArrayDeque<T> items = owner.getValue();
                T item = items.removeFirst();
                size--;
                if (!items.isEmpty()) {
                    waiting.put(owner.getKey(), items);
                }
                return Optional.of(item);
            }
        }
        return Optional.empty();
    }

    /// Removes an item; does nothing if it is gone.
    public synchronized void remove(String owner, T item) {
        ArrayDeque<T> items = waiting.getOrDefault(owner, new ArrayDeque<>());
        if (items.remove(item)) {
            size--;
        }
        if (items.isEmpty()) {
            waiting.remove(owner);
        }
    }

    /// Returns the number of waiting items.
    public synchronized int size() {
        return size;
    }
}
