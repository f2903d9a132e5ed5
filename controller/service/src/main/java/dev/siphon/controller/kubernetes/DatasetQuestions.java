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

/// A bounded queue of node requests. It handles several at once, and takes turns between namespaces. A request that
/// does not fit is dropped, and a later list finds it again.
final class DatasetQuestions implements AutoCloseable {
    /// Most waiting requests, about 1 KB each.
    static final int MOST = 1_000;

    /// Requests handled at once: each waits for the API server, the directory and Ceph.
    private static final int AT_ONCE = 16;

    /// Requests of one namespace handled at once, so that other namespaces need not wait for it.
    static final int AT_ONCE_OF_ONE = 4;

    private static final Duration BEFORE_LISTING = Duration.ofSeconds(1);

    private final Consumer<WaitingAccess> answer;
    private final Runnable list;
    private final ScheduledExecutorService workers = Executors.newScheduledThreadPool(
            AT_ONCE + 1,
            Thread.ofPlatform().daemon().name("dataset-requests-", 0).factory());
    private final FairQueue<WaitingAccess> waiting = new FairQueue<>(MOST);

    /// The newest request per volume that waits or is being handled, by [WaitingAccess#title]. Guarded by this
    /// object's lock, like all fields below.
    private final Map<String, String> newest = new HashMap<>();

    private final Map<String, Integer> ofNamespaces = new HashMap<>();
    private int underWay;
    private boolean more;

    /// A request of a node.
    ///
    /// @param request id that distinguishes it from earlier requests for the same volume
    /// @param spec the whole spec
    /// @param before the volume of an earlier reply, if any
    record WaitingAccess(String namespace, String name, String request, JsonObject spec, Optional<String> before) {
        String title() {
            return namespace + "/" + name;
        }
    }

    /// @param answer handles a request, which may take seconds; throws nothing
    /// @param list adds all requests without a reply; throws nothing
    DatasetQuestions(Consumer<WaitingAccess> answer, Runnable list) {
        this.answer = answer;
        this.list = list;
    }

    /// Adds a request and replaces an earlier one for the same volume. Does nothing if the same request is known
    /// already.
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

    /// Starts a list of all requests.
    void find() {
        run(() -> workers.execute(list));
    }

    /// Returns how many requests wait.
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
            return; // superseded by a newer request
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
            // the process is shutting down; the next leader receives the requests again
        }
    }

    @Override
    public void close() {
        workers.shutdownNow();
    }
}
