package dev.siphon.csi;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/// Items that wait, a bounded number in all. Owners share the room: one with many items gives way to one with few.
/// And they take turns. Safe for several threads.
public final class FairQueue<T> {
    private final int most;

    /// The owner whose turn is next comes first. None is empty.
    private final Map<String, ArrayDeque<T>> waiting = new LinkedHashMap<>();

    private int size;

    /// @param most items of all owners together
    public FairQueue(int most) {
        this.most = most;
    }

    /// Adds an item, behind all others of its owner.
    ///
    /// @return the item that has no room, if there is one: the newest of the owner with the most items, or `item`
    ///     itself, if its owner would have as many
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

    /// Takes one from an owner that has more than `less`.
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

    /// Takes the oldest item of the owner whose turn it is, who is behind all others then.
    ///
    /// @param may which owners have a turn
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

    /// Takes an item out; nothing if it is not there any more.
    public synchronized void remove(String owner, T item) {
        ArrayDeque<T> items = waiting.getOrDefault(owner, new ArrayDeque<>());
        if (items.remove(item)) {
            size--;
        }
        if (items.isEmpty()) {
            waiting.remove(owner);
        }
    }

    /// How many wait.
    public synchronized int size() {
        return size;
    }
}
