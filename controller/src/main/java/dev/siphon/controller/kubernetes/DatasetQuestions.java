package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.csi.FairQueue;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// Questions of nodes that wait to be answered: a bounded number, and some at once, in turns by namespace. One
/// that has no room is found again by a listing when there is some.
final class DatasetQuestions implements AutoCloseable {
    /// Of a kilobyte each, more or less.
    static final int MOST = 1_000;

    /// How many are answered at once: each waits for API server, directory and Ceph.
    private static final int AT_ONCE = 16;

    /// And of one namespace, so that others need not wait for what its pods ask for.
    static final int AT_ONCE_OF_ONE = 4;

    private static final Duration BEFORE_LISTING = Duration.ofSeconds(1);

    private final Consumer<WaitingAccess> answer;
    private final Runnable list;
    private final ScheduledExecutorService workers = Executors.newScheduledThreadPool(
            AT_ONCE + 1,
            Thread.ofPlatform().daemon().name("dataset-requests-", 0).factory());
    private final FairQueue<WaitingAccess> waiting = new FairQueue<>(MOST);

    /// The newest question about each volume that waits or is being answered, by [WaitingAccess#title]. Under
    /// this object's lock, like all that follows.
    private final Map<String, String> newest = new HashMap<>();

    private final Map<String, Integer> ofNamespaces = new HashMap<>();
    private int underWay;
    private boolean more;

    /// What a node asks.
    ///
    /// @param request tells it from earlier ones about the same volume
    /// @param spec all of it
    /// @param before the volume that the pod was given by an earlier answer
    record WaitingAccess(String namespace, String name, String request, JsonObject spec, Optional<String> before) {
        String title() {
            return namespace + "/" + name;
        }
    }

    /// @param answer answers a question, which may take seconds; throws nothing
    /// @param list adds all questions that are not answered; throws nothing
    DatasetQuestions(Consumer<WaitingAccess> answer, Runnable list) {
        this.answer = answer;
        this.list = list;
    }

    /// Adds a question, in place of an earlier one about the same volume; nothing if it waits already.
    synchronized void add(WaitingAccess question) {
        if (question.request().equals(newest.get(question.title()))) {
            return;
        }
        Optional<WaitingAccess> out = waiting.add(question.namespace(), question);
        if (out.filter(question::equals).isEmpty()) {
            newest.put(question.title(), question.request());
        }
        out.ifPresent(lost -> {
            newest.remove(lost.title(), lost.request());
            more = true;
        });
        begin();
    }

    /// Has all questions listed.
    void find() {
        run(() -> workers.execute(list));
    }

    /// How many wait.
    int waiting() {
        return waiting.size();
    }

    private void begin() {
        boolean hasRoom = true;
        while (hasRoom && underWay < AT_ONCE) {
            Optional<WaitingAccess> next =
                    waiting.next(namespace -> ofNamespaces.getOrDefault(namespace, 0) < AT_ONCE_OF_ONE);
            next.ifPresent(this::begin);
            hasRoom = next.isPresent();
        }
        if (more && waiting.size() < MOST / 2) {
            more = false;
            run(() -> {
                var _ = workers.schedule(list, BEFORE_LISTING.toMillis(), TimeUnit.MILLISECONDS);
            });
        }
    }

    private void begin(WaitingAccess question) {
        if (!question.request().equals(newest.get(question.title()))) {
            return; // the node has asked anew
        }
        underWay++;
        ofNamespaces.merge(question.namespace(), 1, Integer::sum);
        run(() -> workers.execute(() -> {
            try {
                answer.accept(question);
            } finally {
                end(question);
            }
        }));
    }

    private synchronized void end(WaitingAccess question) {
        underWay--;
        ofNamespaces.computeIfPresent(question.namespace(), (_, count) -> count > 1 ? count - 1 : null);
        newest.remove(question.title(), question.request());
        begin();
    }

    private static void run(Runnable start) {
        try {
            start.run();
        } catch (RejectedExecutionException _) {
            // the process ends; whoever leads next is told of it again
        }
    }

    @Override
    public void close() {
        workers.shutdownNow();
    }
}
