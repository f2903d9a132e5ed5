package dev.siphon.controller.grant;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Keeps the NamespaceAccess objects in step with the grants. Revocations are written first, and an object that
/// cannot be written does not block the others.
public final class NamespaceAccessWriter {
    private static final Logger LOG = LoggerFactory.getLogger(NamespaceAccessWriter.class);
    private static final Duration EVERY = Duration.ofSeconds(5);

    /// Number of rounds that trust the cached digests before the store is listed again.
    private static final int ROUNDS = 120;

    /// How long a round continues with new grants after the grants have changed.
    private static final Duration OUTDATED = Duration.ofSeconds(2);

    /// After this many successive UNAVAILABLE failures, a round stops calling the store.
    private static final int SILENT = 3;

    private final Supplier<Grants> grants;
    private final Supplier<Optional<Map<String, NamespaceAccess.ReadableDataset>>> details;
    private final Supplier<Map<String, Map<String, NamespaceAccess.ReplicaSummary>>> replicas;
    private final NamespaceAccessStore store;
    private final String own;
    private final Duration outdated;
    private final Gauge objects;
    private final Gauge pending;
    private final Gauge largest;

    /// The digests of the stored objects; empty before the first listing.
    private Optional<Map<NamespaceAccess.Key, String>> there = Optional.empty();

    private SortedMap<NamespaceAccess.Key, NamespaceAccess> last = new TreeMap<>();
    private int rounds;

    /// The input that is completely written; empty if something is missing.
    private Optional<Input> written = Optional.empty();

    private Optional<String> told = Optional.empty();

    private volatile Map<NamespaceAccess.Key, String> nearlyFull = Map.of();

    private record Input(
            Grants grants,
            Map<String, NamespaceAccess.ReadableDataset> details,
            Map<String, Map<String, NamespaceAccess.ReplicaSummary>> replicas) {}

    /// @param grants the published grants
    /// @param details the datasets by name; empty until they are known
    /// @param replicas the datasets that pods of a namespace use or wait for, by namespace and name
    /// @param own the driver's namespace
    public NamespaceAccessWriter(
            Supplier<Grants> grants,
            Supplier<Optional<Map<String, NamespaceAccess.ReadableDataset>>> details,
            Supplier<Map<String, Map<String, NamespaceAccess.ReplicaSummary>>> replicas,
            NamespaceAccessStore store,
            String own,
            PrometheusRegistry metrics) {
        this(grants, details, replicas, store, own, OUTDATED, metrics);
    }

    /// @param outdated how long a round continues with new grants after the grants have changed
    NamespaceAccessWriter(
            Supplier<Grants> grants,
            Supplier<Optional<Map<String, NamespaceAccess.ReadableDataset>>> details,
            Supplier<Map<String, Map<String, NamespaceAccess.ReplicaSummary>>> replicas,
            NamespaceAccessStore store,
            String own,
            Duration outdated,
            PrometheusRegistry metrics) {
        this.grants = grants;
        this.details = details;
        this.replicas = replicas;
        this.store = store;
        this.own = own;
        this.outdated = outdated;
        this.objects = Gauge.builder()
                .name("siphon_namespace_access_objects")
                .help("NamespaceAccess objects that should exist")
                .register(metrics);
        this.pending = Gauge.builder()
                .name("siphon_namespace_access_pending")
                .help("NamespaceAccess objects that could not be written or removed in the last round")
                .register(metrics);
        this.largest = Gauge.builder()
                .name("siphon_namespace_access_largest")
                .help("Accounts or datasets that the largest NamespaceAccess object should name;"
                        + " at most 1,000 of each")
                .register(metrics);
    }

    /// Returns warnings for objects that are nearly full.
    public Map<NamespaceAccess.Key, String> nearlyFull() {
        return nearlyFull;
    }

    /// Starts writing, until the task is closed.
    public BackgroundTasks.Task start(BackgroundTasks tasks) {
        return tasks.every("namespace-access", Duration.ZERO, EVERY, this::reconcileAndLog);
    }

    private void reconcileAndLog() {
        try {
            boolean outdated = true;
            while (outdated) {
                outdated = write();
            }
        } catch (DriverException notNow) {
            warnOnce(Optional.of("NamespaceAccess objects are not updated: " + notNow.getMessage()));
        }
    }

    /// Logs each trouble once, however long it lasts.
    private void warnOnce(Optional<String> trouble) {
        if (!trouble.equals(told)) {
            trouble.ifPresent(what -> LOG.warn("{}", what));
            told = trouble;
        }
    }

    /// Writes what has changed.
    ///
    /// @return whether the round stopped early because the grants changed: their revocations come first
    /// @throws DriverException if the stored objects cannot be listed
    boolean write() {
        Optional<Map<String, NamespaceAccess.ReadableDataset>> known = details.get();
        if (known.isEmpty()) {
            return false;
        }
        rounds++;
        Input now = new Input(grants.get(), known.get(), replicas.get());
        if (there.isEmpty() || rounds >= ROUNDS) {
            there = store.digests().map(HashMap::new);
            rounds = 0;
        } else if (Optional.of(now).equals(written)) {
            return false;
        }
        SortedMap<NamespaceAccess.Key, NamespaceAccess> wanted =
                NamespaceAccess.of(now.grants(), now.details(), now.replicas(), own);
        measure(wanted);
        Optional<WriteRound> round = there.map(digests -> write(digests, wanted, now.grants()));
        written = round.filter(WriteRound::isWhole).map(_ -> now);
        last = wanted;
        return round.filter(each -> each.outdated).isPresent();
    }

    private void measure(SortedMap<NamespaceAccess.Key, NamespaceAccess> wanted) {
        int most = 0;
        Map<NamespaceAccess.Key, String> nearly = new TreeMap<>();
        for (NamespaceAccess access : wanted.values()) {
            int accounts = access.accounts().size();
            int datasets = access.datasets().size();
            most = Math.max(most, Math.max(accounts, datasets));
            if (accounts > store.most() * GrantCapacityWarnings.NEARLY
                    || datasets > store.most() * GrantCapacityWarnings.NEARLY) {
                nearly.put(
                        access.key(),
                        "this object names four fifths or more of the " + store.most()
                                + " accounts or datasets that fit. Pods get no volume of an account"
                                + " that it does not name while the ConfigMap siphon-grants has no room for them");
            }
        }
        largest.set(most);
        nearlyFull = nearly;
    }

    private WriteRound write(
            Map<NamespaceAccess.Key, String> known,
            SortedMap<NamespaceAccess.Key, NamespaceAccess> wanted,
            Grants from) {
        List<NamespaceAccess.Key> removed = known.keySet().stream()
                .filter(key -> !wanted.containsKey(key))
                .sorted()
                .toList();
        List<NamespaceAccess> shrunk = new ArrayList<>();
        List<NamespaceAccess> grown = new ArrayList<>();
        wanted.forEach((key, access) -> {
            if (!access.digest().equals(known.get(key))) {
                (grows(key, access, known) ? grown : shrunk).add(access);
            }
        });
        WriteRound round = new WriteRound();
        removed.forEach(key -> round.attempt(key, () -> {
            store.remove(key);
            known.remove(key);
        }));
        Consumer<NamespaceAccess> put = access -> round.attempt(access.key(), () -> {
            store.put(access);
            known.put(access.key(), access.digest());
        });
        shrunk.forEach(put);
        int done = 0;
        while (done < grown.size() && !round.isOutdated(from)) {
            put.accept(grown.get(done++));
        }
        objects.set(wanted.size());
        pending.set(round.failed + grown.size() - done);
        warnOnce(round.why.map(why -> round.failed + " NamespaceAccess objects are out of date: " + why));
        return round;
    }

    /// Returns whether the change revokes nothing: the object is new, or keeps everything that it had.
    private boolean grows(NamespaceAccess.Key key, NamespaceAccess access, Map<NamespaceAccess.Key, String> known) {
        return !known.containsKey(key)
                || Optional.ofNullable(last.get(key))
                        .filter(before -> before.isWithin(access))
                        .isPresent();
    }

    /// The failures of one round.
    private final class WriteRound {
        private final long began = System.nanoTime();
        private boolean outdated;
        private int failed;
        private int silent;
        private Optional<String> why = Optional.empty();

        boolean isWhole() {
            return failed == 0 && !outdated;
        }

        boolean isOutdated(Grants from) {
            outdated = System.nanoTime() - began >= NamespaceAccessWriter.this.outdated.toNanos()
                    && !grants.get().equals(from);
            return outdated;
        }

        void attempt(NamespaceAccess.Key key, Runnable change) {
            try {
                if (silent < SILENT) {
                    change.run();
                    silent = 0;
                } else {
                    failed++;
                }
            } catch (DriverException.BackendUnavailable notNow) {
                silent++;
                note(key, notNow);
            } catch (DriverException refused) {
                note(key, refused);
            }
        }

        private void note(NamespaceAccess.Key key, DriverException failure) {
            failed++;
            why = why.or(() -> Optional.of(key + ": " + failure.getMessage()));
        }
    }
}
