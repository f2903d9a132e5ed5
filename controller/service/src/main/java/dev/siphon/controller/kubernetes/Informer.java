package dev.siphon.controller.kubernetes;

import dev.siphon.controller.kubernetes.ObjectParts.Keep;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Caches the objects of one collection by one list and a watch that continues from it (Kubernetes API Concepts,
/// "Efficient detection of changes"). client-go and fabric8 call this an informer. Theirs parse each object
/// completely before they trim it. Tenants write objects of 1.5 MiB, so this one prunes each object as it arrives
/// and keeps only a value of it.
///
/// Before [#follow], each read lists the collection.
///
/// @param <T> the value that is kept of an object
final class Informer<T> {
    private static final Logger LOG = LoggerFactory.getLogger(Informer.class);

    /// When the server ends each watch. A watch that the network dropped silently ends then, too.
    private static final Duration WATCH = Duration.ofSeconds(45);

    /// How long the server may take to end a watch.
    private static final Duration GRACE = Duration.ofSeconds(5);

    /// The cache is stale when the API server has been silent for this long.
    static final Duration STALE = Duration.ofSeconds(60);

    /// Interval of full lists, even while the watch works. An API server that was restored from a backup counts its
    /// versions from an earlier one, and a watch from a later version stays silent.
    private static final Duration LIST_AGAIN = Duration.ofMinutes(30);

    /// How long to wait while another thread lists.
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private final KubernetesApi api;
    private final Source source;
    private final Values<T> values;
    private final LongSupplier nanoTime;
    private final Duration watch;

    private final WatchHealth health;
    private final ReentrantLock listing = new ReentrantLock();

    /// Values by uid. Guarded by this object's lock, like all fields below.
    private final Map<String, T> kept = new HashMap<>();

    /// The newest list or watch; only it may change the cache.
    private long session;

    /// The version from which a watch may continue; empty if a list is needed.
    private String version = "";

    private boolean served = true;

    /// Callbacks after each change; while there is one, the cache is kept current.
    private final List<Runnable> followers = new ArrayList<>();

    private BackgroundTasks.Task following = () -> {};
    private Optional<Long> listed = Optional.empty();
    private Optional<Long> heard = Optional.empty();
    /// A collection of the API server.
    ///
    /// @param kind in the plural, for messages: `Pods`
    /// @param path of the collection, as `api/v1/pods`
    /// @param selector which objects, as `&fieldSelector=...`; empty for all
    /// @param page objects per page of a list
    /// @param keep the parts to read of each object
    record Source(String kind, String path, String selector, int page, Keep keep) {
        Source {
            Set<String> names = new HashSet<>(keep.names());
            names.addAll(Set.of("metadata.uid", "metadata.resourceVersion"));
            keep = new Keep(names, keep.most());
        }

        private String list() {
            return path + "?limit=" + page + selector;
        }

        private String watch(String from, Duration longest) {
            return path + "?watch=true&allowWatchBookmarks=true&timeoutSeconds=" + longest.toSeconds()
                    + "&resourceVersion=" + from + selector;
        }
    }

    /// Converts an object to a value. Called for one object at a time.
    @FunctionalInterface
    interface Values<T> {
        /// Returns the value of a new or changed object.
        ///
        /// @param before the previous value of the same object, which is no longer kept
        /// @return empty to keep nothing
        Optional<T> of(ObjectParts object, Optional<T> before);

        /// Called after an object is deleted. A list may show another object of the same name before: see
        /// [Informer#forget].
        default void gone(T before) {}

        /// Whether values were not kept for which there is room now. After the next watch the collection is listed.
        default boolean isToBeListed() {
            return false;
        }
    }

    /// @param nanoTime [System#nanoTime]
    Informer(KubernetesApi api, Source source, Values<T> values, LongSupplier nanoTime) {
        this(api, source, values, nanoTime, WATCH);
    }

    /// @param watch when the server ends each watch, in whole seconds
    Informer(KubernetesApi api, Source source, Values<T> values, LongSupplier nanoTime, Duration watch) {
        this.api = api;
        this.source = source;
        this.values = values;
        this.nanoTime = nanoTime;
        this.watch = watch;
        this.health = new WatchHealth(source.kind(), nanoTime);
    }

    /// Keeps the values current until the task is closed, for any number of followers. Does not wait for the API
    /// server.
    ///
    /// @param onChange called after each change, on the watch's thread: must return at once
    synchronized BackgroundTasks.Task follow(BackgroundTasks tasks, Runnable onChange) {
        if (followers.isEmpty()) {
            following = tasks.every("watch-" + source.kind(), Duration.ZERO, this::pause, this::step);
        }
        followers.add(onChange);
        return () -> unfollow(onChange);
    }

    private synchronized void unfollow(Runnable onChange) {
        if (followers.remove(onChange) && followers.isEmpty()) {
            following.close();
        }
    }

    private void changed() {
        List<Runnable> told;
        synchronized (this) {
            told = List.copyOf(followers);
        }
        told.forEach(Runnable::run);
    }

    /// Returns all values; none if the cluster lacks this kind.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the API server has been silent for [#STALE]
    List<T> all() {
        bringUp();
        return current();
    }

    /// Lists, unless the cache is kept current and was listed once.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) as [#all]
    void bringUp() {
        if (isToBeListed()) {
            try {
                listOnce(PATIENCE, this::isToBeListed);
            } catch (DriverException notNow) {
                throw isFollowed() ? unknown(String.valueOf(notNow.getMessage())) : notNow;
            }
        }
        check();
    }

    /// Returns all values as [#all]. Once they are followed, it does not wait for the API server.
    ///
    /// @return empty until they are listed
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if they could not be listed or watched
    Optional<List<T>> known() {
        if (!isFollowed()) {
            return Optional.of(all());
        }
        synchronized (this) {
            if (isCurrent() || !served) {
                return Optional.of(current());
            }
            health.failure().ifPresent(why -> {
                throw unknown(why);
            });
            return Optional.empty();
        }
    }

    private DriverException.BackendUnavailable unknown(String why) {
        return new DriverException.BackendUnavailable(source.kind() + " are not known now: " + why);
    }

    private synchronized boolean isFollowed() {
        return !followers.isEmpty();
    }

    /// Lists in one thread; others wait for it.
    private void listOnce(Duration patience, BooleanSupplier isNeeded) {
        try {
            if (!listing.tryLock(patience.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new DriverException.BackendUnavailable(source.kind() + " are still being listed; retry");
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("the driver is stopping; retry");
        }
        try {
            if (isNeeded.getAsBoolean()) {
                list();
            }
        } finally {
            listing.unlock();
        }
    }

    /// Drops the value of an object that this process just changed. Otherwise it would be acted on again before the
    /// watch reports the change.
    synchronized void drop(String uid) {
        remove(uid);
    }

    /// Whether the cluster has this kind, by the last list.
    synchronized boolean isServed() {
        return served;
    }

    private synchronized boolean isToBeListed() {
        return followers.isEmpty() || listed.isEmpty();
    }

    private synchronized List<T> current() {
        return List.copyOf(kept.values());
    }

    private synchronized boolean isCurrent() {
        return listed.isPresent()
                && heard.filter(then -> nanoTime.getAsLong() - then < STALE.toNanos())
                        .isPresent();
    }

    private synchronized void check() {
        if (!followers.isEmpty() && served && !isCurrent()) {
            throw unknown(health.failure().orElse("the API server of Kubernetes has not listed them yet; retry"));
        }
    }

    private Duration pause() {
        return health.pause(isServed());
    }

    /// Runs one list or one watch.
    private void step() {
        String from = from();
        if (from.isEmpty()) {
            health.attempt(false, () -> listOnce(STALE, () -> from().isEmpty()));
        } else {
            health.attempt(true, () -> {
                watch(from);
                hear();
            });
        }
    }

    private synchronized String from() {
        boolean isOld = listed.filter(then -> nanoTime.getAsLong() - then < LIST_AGAIN.toNanos())
                .isEmpty();
        if (isOld || health.isToBeListed() || values.isToBeListed()) {
            version = "";
        }
        return version;
    }

    private synchronized void hear() {
        heard = Optional.of(nanoTime.getAsLong());
    }

    private void list() {
        long own = begin();
        Set<String> seen = new HashSet<>();
        List<String> versions = new ArrayList<>();
        boolean isThere = ObjectParts.list(
                api,
                "list " + source.kind(),
                source.list(),
                source.keep(),
                object -> {
                    seen.add(uid(object));
                    put(own, object);
                },
                versions::add);
        end(own, seen, isThere ? versions.getFirst() : "", isThere);
        changed();
    }

    private synchronized long begin() {
        return ++session;
    }

    private synchronized void end(long own, Set<String> seen, String from, boolean isThere) {
        if (own != session) {
            return;
        }
        List.copyOf(kept.keySet()).stream().filter(uid -> !seen.contains(uid)).forEach(this::remove);
        version = from;
        if (served && !isThere) {
            LOG.warn(
                    "the cluster has no {} ({}): the chart makes the kinds of siphon.dev, an operator its own",
                    source.kind(),
                    source.path());
        }
        served = isThere;
        listed = Optional.of(nanoTime.getAsLong());
        heard = listed;
    }

    private void watch(String from) {
        long own = begin();
        boolean isThere = api.watch("watch " + source.kind(), source.watch(from, watch), watch.plus(GRACE), body -> {
            health.watched();
            hear();
            ObjectParts.events(body, source.keep(), event -> {
                take(own, event);
                changed();
            });
            return true;
        });
        if (!isThere) {
            expire(own);
        }
    }

    private synchronized void expire(long own) {
        if (own == session) {
            version = "";
        }
    }

    private synchronized void take(long own, ObjectParts.Event event) {
        if (own != session) {
            return;
        }
        switch (event.type()) {
            case ADDED, MODIFIED -> put(own, event.object());
            case DELETED -> remove(uid(event.object()));
            case BOOKMARK -> {}
            case ERROR -> {
                version = "";
                throw new DriverException.BackendUnavailable(
                        "the API server of Kubernetes ended the watch of " + source.kind() + "; retry");
            }
        }
        version = JsonParts.text(event.object().kept(), "metadata", "resourceVersion")
                .orElse(version);
        hear();
    }

    /// Removes a deleted object's value from an index, unless the entry is another object's by now: one of the same
    /// name
    /// that was created since has an equal value, and may be listed before the deletion is noticed.
    @SuppressWarnings("ReferenceEquality")
    static <K, T> void forget(Map<K, T> index, K key, T deleted) {
        index.computeIfPresent(key, (_, now) -> now == deleted ? null : now);
    }

    private static String uid(ObjectParts object) {
        return JsonParts.text(object.kept(), "metadata", "uid").orElse("");
    }

    private synchronized void put(long own, ObjectParts object) {
        if (own != session) {
            return;
        }
        String uid = uid(object);
        Optional<T> before = Optional.ofNullable(kept.get(uid));
        values.of(object, before).ifPresentOrElse(value -> kept.put(uid, value), () -> kept.remove(uid));
    }

    private synchronized void remove(String uid) {
        Optional.ofNullable(kept.remove(uid)).ifPresent(values::gone);
    }
}
