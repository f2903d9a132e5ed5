package dev.siphon.controller.audit;

import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.FileSystemRef;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Reports how long removed data waits for the purge that frees its space. Costs one directory listing, plus one
/// call per new entry.
public final class TrashWatch {
    /// Idle clients of a file system are closed after a minute. This interval keeps them open, so that
    /// CreateVolume need not mount again while the MDS is busy.
    private static final Duration EVERY = Duration.ofSeconds(30);

    /// Interval for a file system without volumes.
    private static final Duration EVERY_WHERE_NOTHING_IS = Duration.ofMinutes(10);

    private static final Duration LONG = Duration.ofMinutes(15);
    private static final int MOST_NAMED = 10;

    private static final Logger LOG = LoggerFactory.getLogger(TrashWatch.class);

    private final Clusters clusters;
    private final Trash trash;
    private final Clock clock;
    private final Gauge entries;
    private final Gauge oldest;
    private final Map<FileSystemRef, TrashState> seen = new HashMap<>();

    /// @param since the removal times of the listed entries
    /// @param told the entries that the log has named
    /// @param next when to list again
    private record TrashState(Map<String, Instant> since, Set<String> told, Instant next) {}

    public TrashWatch(Clusters clusters, Trash trash, PrometheusRegistry registry) {
        this(clusters, trash, registry, Clock.systemUTC());
    }

    TrashWatch(Clusters clusters, Trash trash, PrometheusRegistry registry, Clock clock) {
        this.clusters = clusters;
        this.trash = trash;
        this.clock = clock;
        this.entries = Gauge.builder()
                .name("siphon_trash_entries")
                .help("Removed volumes that the mgr has not purged yet, at the last check")
                .labelNames("cluster", "file_system")
                .register(registry);
        this.oldest = Gauge.builder()
                .name("siphon_trash_oldest_seconds")
                .help("How long the oldest of them has waited, in seconds; 0 if there is none")
                .labelNames("cluster", "file_system")
                .register(registry);
    }

    /// Starts the watch, until the task is closed; the first check runs after the first interval.
    public BackgroundTasks.Task start(BackgroundTasks tasks) {
        return tasks.every("trash", EVERY, EVERY, this::check);
    }

    /// Checks each file system once; skips clusters that do not answer.
    void check() {
        for (String cluster : clusters.ids()) {
            try {
                clusters.fileSystems(cluster).forEach(each -> check(new FileSystemRef(cluster, each.name())));
            } catch (DriverException silent) {
                LOG.atDebug()
                        .addKeyValue("cluster", cluster)
                        .log("the trash of this cluster cannot be read: {}", silent.getMessage());
            }
        }
    }

    private void check(FileSystemRef place) {
        Instant now = clock.instant();
        TrashState before = seen.getOrDefault(place, new TrashState(Map.of(), Set.of(), now));
        if (now.isBefore(before.next())) {
            return;
        }
        Optional<Trash.Entries> found = trash.list(place.cluster(), place.fileSystem(), before.since());
        Trash.Entries all = found.orElse(new Trash.Entries(0, Map.of()));
        entries.labelValues(place.cluster(), place.fileSystem()).set(all.count());
        oldest.labelValues(place.cluster(), place.fileSystem())
                .set(all.since().values().stream()
                        .min(Comparator.naturalOrder())
                        .map(since -> Math.max(0, Duration.between(since, now).toSeconds()))
                        .orElse(0L));
        Instant next = found.isPresent() ? now : now.plus(EVERY_WHERE_NOTHING_IS);
        seen.put(place, new TrashState(all.since(), warnOnce(place, all.since(), before.told(), now), next));
    }

    /// @return the overdue entries, all of which the log has now reported
    private static Set<String> warnOnce(
            FileSystemRef place, Map<String, Instant> since, Set<String> told, Instant now) {
        List<String> old = since.entrySet().stream()
                .filter(each -> each.getValue().plus(LONG).isBefore(now))
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
        List<String> fresh = old.stream().filter(name -> !told.contains(name)).toList();
        if (!fresh.isEmpty()) {
            LOG.atWarn()
                    .addKeyValue("cluster", place.cluster())
                    .addKeyValue("file_system", place.fileSystem())
                    .addKeyValue("entries", fresh.stream().limit(MOST_NAMED).toList())
                    .addKeyValue("count", fresh.size())
                    .log(
                            "removed volumes are not purged after {} minutes: check that the mgr works and"
                                    + " mgr/volumes/pause_purging is not set",
                            LONG.toMinutes());
        }
        return new HashSet<>(old);
    }
}
