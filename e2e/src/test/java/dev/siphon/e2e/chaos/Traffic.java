package dev.siphon.e2e.chaos;

import dev.siphon.csi.server.UnixEndpoint;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.Await;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;

/// Callers that create and delete volumes in one cluster until stopped, each with three names of its own.
final class Traffic implements AutoCloseable {
    private static final int NAMES_PER_CALLER = 3;
    private static final Duration PAUSE = Duration.ofMillis(50);

    private final String cluster;
    private final UnixEndpoint endpoint;
    private final Queue<Seen> seen = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final List<Thread> threads = new ArrayList<>();
    private final List<String> names;

    /// The outcome of one call.
    record Seen(Instant at, Outcome<String> outcome) {}

    private Traffic(UnixEndpoint endpoint, String cluster, String prefix, int callers) {
        this.endpoint = endpoint;
        this.cluster = cluster;
        this.names = IntStream.range(0, callers * NAMES_PER_CALLER)
                .mapToObj(number -> prefix + number)
                .toList();
    }

    /// Starts the callers.
    ///
    /// @param prefix of the volumes' names
    /// @param deadline of each call
    static Traffic start(UnixEndpoint endpoint, String cluster, String prefix, int callers, Duration deadline) {
        Traffic traffic = new Traffic(endpoint, cluster, prefix, callers);
        for (int i = 0; i < callers; i++) {
            int caller = i;
            traffic.threads.add(
                    Thread.ofPlatform().name("caller-" + cluster + "-" + i).start(() -> traffic.run(caller, deadline)));
        }
        return traffic;
    }

    private void run(int caller, Duration deadline) {
        try (CsiClient all = CsiClient.to(endpoint)) {
            CsiClient client = all.within(deadline);
            for (int i = 0; !stopped.get(); i = (i + 1) % NAMES_PER_CALLER) {
                Outcome<String> made = create(client, names.get(caller * NAMES_PER_CALLER + i));
                seen.add(new Seen(Instant.now(), made));
                made.response().ifPresent(id -> seen.add(new Seen(Instant.now(), delete(client, id))));
                Await.pass(PAUSE);
            }
        }
    }

    private Outcome<String> create(CsiClient client, String name) {
        return Outcome.of(() -> client.controller()
                .createVolume(Requests.volume(name, "u1", Requests.GIB).toBuilder()
                        .putParameters("cluster", cluster)
                        .build())
                .getVolume()
                .getVolumeId());
    }

    private static Outcome<String> delete(CsiClient client, String id) {
        return Outcome.of(
                () -> client.controller().deleteVolume(Requests.delete(id)).toString());
    }

    /// Returns the calls that ended after `from`.
    List<Seen> since(Instant from) {
        return seen.stream().filter(each -> each.at().isAfter(from)).toList();
    }

    /// Retries every name until its volume could be created and deleted.
    ///
    /// @throws AssertionError if one fails for longer than `atMost`
    void useEveryName(Duration atMost) {
        Instant end = Instant.now().plus(atMost);
        try (CsiClient client = CsiClient.to(endpoint)) {
            CsiClient impatient = client.within(Duration.ofSeconds(10));
            Callers.atOnce(names.size(), number -> {
                String name = names.get(number);
                Outcome<String> made = until(end, () -> create(impatient, name));
                until(end, () -> delete(impatient, made.get())).get();
            });
        }
    }

    private static Outcome<String> until(Instant end, java.util.function.Supplier<Outcome<String>> call) {
        Outcome<String> outcome = call.get();
        while (!outcome.ok() && Instant.now().isBefore(end)) {
            Await.pass(PAUSE);
            outcome = call.get();
        }
        outcome.get();
        return outcome;
    }

    /// Waits until every caller has finished its call.
    void stop() {
        stopped.set(true);
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    @Override
    public void close() {
        stop();
    }
}
