package dev.siphon.e2e.bench;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/// Generates names that no other run uses.
final class Names {
    private final String prefix = "bench-" + Long.toString(System.currentTimeMillis(), 36) + "-";
    private final AtomicInteger next = new AtomicInteger();

    List<String> take(int count) {
        return IntStream.range(0, count)
                .mapToObj(_ -> prefix + next.getAndIncrement())
                .toList();
    }
}
