package dev.siphon.node.inline;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.grant.PublishCheck;
import dev.siphon.node.mount.NodeVolumes;
import dev.siphon.node.mount.TargetPath;
import dev.siphon.node.pod.Pod;
import dev.siphon.node.pod.PodHealth;
import dev.siphon.node.pod.PublishedPods;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Datasets that pods read from a replica because Ceph or the controller did not answer. Who may read one is then what
/// the controller has published last.
///
/// Afterwards this asks the controller again for each of these pods, and mounts the image, which a node needs when a
/// replica fails. A file for each target path, in a directory of its own, survives restarts.
public final class OfflineDatasets implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(OfflineDatasets.class);

    /// The event that shows users why their pod reads from a replica.
    static final String OFFLINE = "DatasetOffline";

    private static final Duration PERIOD = Duration.ofSeconds(10);
    private static final Duration REOPEN_LIMIT = Duration.ofSeconds(5);

    /// How long the controller is expected not to answer, once it has not.
    private static final Duration SILENCE = Duration.ofSeconds(60);

    private static final Duration SHORT_WAIT = Duration.ofSeconds(3);
    private static final int LINES = 4;
    private static final String NEXT = ".new";

    private final Path folder;
    private final Duration offlineFor;
    private final PublishCheck check;
    private final NodeVolumes volumes;
    private final InlineDatasets datasets;
    private final PublishedPods published;
    private final PodHealth pods;
    private final LongSupplier nanoTime;
    private final Counter shown;

    /// When the controller did not answer last, by `nanoTime`; empty if it has answered since.
    private volatile Optional<Long> silent = Optional.empty();

    private volatile Optional<BackgroundTasks.Task> running = Optional.empty();

    /// @param folder created when needed
    /// @param offlineFor as in [dev.siphon.node.mount.OpenedDatasets]; zero if nothing is ever shown so
    /// @param nanoTime [System#nanoTime]
    public OfflineDatasets(
            Path folder,
            Duration offlineFor,
            PublishCheck check,
            NodeVolumes volumes,
            InlineDatasets datasets,
            PublishedPods published,
            PodHealth pods,
            PrometheusRegistry metrics,
            LongSupplier nanoTime) {
        this.folder = folder;
        this.offlineFor = offlineFor;
        this.check = check;
        this.volumes = volumes;
        this.datasets = datasets;
        this.published = published;
        this.pods = pods;
        this.nanoTime = nanoTime;
        this.shown = Counter.builder()
                .name("siphon_offline_publishes_total")
                .help("Datasets published from a replica because Ceph or the controller did not answer.")
                .register(metrics);
    }

    /// A dataset that a pod reads without its image.
    ///
    /// @param name identifies the pod's volume to the controller, as in [InlineDatasets#open]
    /// @param dataset as in [InlineDatasets#open]
    public record OfflineDataset(TargetPath target, String name, String dataset, VolumeId.DatasetVolume volume) {
        private String text() {
            return String.join("\n", target.text(), name, dataset, volume.toString()) + "\n";
        }

        private static Optional<OfflineDataset> parse(List<String> lines) {
            return lines.size() == LINES && lines.getFirst().startsWith("/")
                    ? VolumeId.DatasetVolume.tryParse(lines.get(3))
                            .map(volume -> new OfflineDataset(
                                    TargetPath.parse("target path", lines.get(0)), lines.get(1), lines.get(2), volume))
                    : Optional.empty();
        }
    }

    /// The controller's answer about a dataset, or why there is none.
    public sealed interface Reply {
        record Answered(InlineDatasets.Opened opened) implements Reply {}

        /// @param why nobody answers, or not before the deadline
        record Unanswered(DriverException why) implements Reply {}
    }

    /// Asks the controller for a dataset, as [InlineDatasets#open] does. While it does not answer, this waits for it
    /// only briefly: its silence has cost another pod the full time already.
    ///
    /// @throws DriverException the controller's reason to refuse it
    public Reply ask(String name, Pod pod, String dataset, Duration limit) {
        boolean isSilent = silent.filter(since -> nanoTime.getAsLong() - since < SILENCE.toNanos())
                .isPresent();
        Duration wait = isSilent && !offlineFor.isZero() && limit.compareTo(SHORT_WAIT) > 0 ? SHORT_WAIT : limit;
        long begun = nanoTime.getAsLong();
        try {
            InlineDatasets.Opened opened = datasets.open(name, pod, dataset, wait);
            silent = Optional.empty();
            return new Reply.Answered(opened);
        } catch (DriverException.BackendUnavailable
                | DriverException.DeadlinePassed
                | DriverException.OperationPending why) {
            // an early refusal says nothing about the controller: a pod may ask for too much at once
            if (nanoTime.getAsLong() - begun >= SHORT_WAIT.toNanos()) {
                silent = Optional.of(nanoTime.getAsLong());
            }
            return new Reply.Unanswered(why);
        }
    }

    /// Returns the dataset that a pod may read without the controller's answer.
    ///
    /// @param away why there is no answer
    /// @throws DriverException `away`, if nothing is shown so; else as [PublishCheck#published]
    public VolumeId.DatasetVolume readable(String dataset, Pod pod, DriverException away) {
        if (offlineFor.isZero()) {
            throw away;
        }
        return check.published(dataset, pod.namespace());
    }

    /// Records that a dataset was published to `pod` without its image, and tells the pod.
    public void shown(OfflineDataset offline, Pod pod, DriverException away) {
        shown.inc();
        Path file = file(offline.target());
        Path next = file.resolveSibling(file.getFileName() + NEXT);
        try {
            Files.createDirectories(folder);
            Files.writeString(next, offline.text());
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            LOG.atWarn()
                    .addKeyValue("path", offline.target().text())
                    .addKeyValue("reason", e.toString())
                    .log("an offline dataset is not recorded: its image is mounted with the next pod");
        }
        pods.report(
                pod,
                OFFLINE,
                "the pod reads dataset " + offline.dataset() + " from the replica on its node, since Ceph or the"
                        + " controller does not answer: " + away.getMessage());
    }

    /// Forgets what is no longer published at `target`.
    public void ends(TargetPath target) {
        try {
            Files.deleteIfExists(file(target));
        } catch (IOException e) {
            LOG.atWarn()
                    .addKeyValue("path", target.text())
                    .addKeyValue("reason", e.toString())
                    .log("an offline dataset cannot be forgotten");
        }
    }

    /// Starts to mount the images as soon as they can be.
    public OfflineDatasets start(BackgroundTasks tasks) {
        running = Optional.of(tasks.every("offline-datasets", PERIOD, PERIOD, this::reopen));
        return this;
    }

    /// Tries once for each dataset. Ends early if the controller still does not answer.
    public void reopen() {
        Map<String, Pod> known = published.all();
        Set<VolumeId.DatasetVolume> open = new HashSet<>();
        for (OfflineDataset each : all()) {
            Optional<Pod> pod = Optional.ofNullable(known.get(each.target().text()));
            if (pod.isPresent() && !open.contains(each.volume().withoutClaim())) {
                try {
                    InlineDatasets.Opened opened = datasets.open(each.name(), pod.get(), each.dataset(), REOPEN_LIMIT);
                    silent = Optional.empty();
                    if (!isReopened(each, opened)) {
                        continue; // in the next round
                    }
                    open.add(each.volume().withoutClaim());
                } catch (DriverException.BackendUnavailable
                        | DriverException.DeadlinePassed
                        | DriverException.OperationPending _) {
                    return;
                } catch (DriverException refused) {
                    LOG.atWarn()
                            .addKeyValue("volume_id", each.volume())
                            .addKeyValue("reason", refused.getMessage())
                            .log("the image of an offline dataset is not mounted for this pod");
                }
            }
            ends(each.target());
        }
    }

    private boolean isReopened(OfflineDataset offline, InlineDatasets.Opened opened) {
        try {
            volumes.reopen(offline.volume().withoutClaim(), opened.context(), opened.credentials(), REOPEN_LIMIT);
            LOG.atInfo().addKeyValue("volume_id", offline.volume()).log("the image of an offline dataset is mounted");
            return true;
        } catch (DriverException notNow) {
            LOG.atWarn()
                    .addKeyValue("volume_id", offline.volume())
                    .addKeyValue("reason", notNow.getMessage())
                    .log("the image of an offline dataset cannot be mounted now");
            return false;
        }
    }

    private List<OfflineDataset> all() {
        List<OfflineDataset> found = new ArrayList<>();
        try (Stream<Path> files = Files.isDirectory(folder) ? Files.list(folder) : Stream.empty()) {
            for (Path file :
                    files.filter(path -> !path.toString().endsWith(NEXT)).toList()) {
                OfflineDataset.parse(Files.readAllLines(file)).ifPresent(found::add);
            }
        } catch (IOException e) {
            LOG.atWarn().addKeyValue("reason", e.toString()).log("cannot list the offline datasets");
        }
        return found;
    }

    private Path file(TargetPath target) {
        byte[] path = target.text().getBytes(StandardCharsets.UTF_8);
        return folder.resolve(Digest.of(ByteBuffer.wrap(path)).hex());
    }

    @Override
    public void close() {
        running.ifPresent(BackgroundTasks.Task::close);
    }
}
