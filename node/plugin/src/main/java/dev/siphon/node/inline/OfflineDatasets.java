package dev.siphon.node.inline;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.grant.PublishCheck;
import dev.siphon.node.mount.NodeVolumes;
import dev.siphon.node.mount.RecordFiles;
import dev.siphon.node.mount.TargetPath;
import dev.siphon.node.pod.Pod;
import dev.siphon.node.pod.PodHealth;
import dev.siphon.node.pod.PublishedPods;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
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

    private final RecordFiles records;
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
        this.records = new RecordFiles(folder);
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
    /// @param name identifies the pod's volume to the controller, as in [InlineDatasets#ask]
    /// @param dataset as in [InlineDatasets#ask]
    public record OfflineDataset(TargetPath target, String name, String dataset, VolumeId.DatasetVolume volume) {
        private String text() {
            return String.join("\n", target.text(), name, dataset, volume.toString()) + "\n";
        }

        private static Optional<OfflineDataset> parse(String text) {
            List<String> lines = text.lines().toList();
            return lines.size() == LINES && lines.getFirst().startsWith("/")
                    ? VolumeId.DatasetVolume.tryParse(lines.get(3))
                            .map(volume -> new OfflineDataset(
                                    TargetPath.parse("target path", lines.get(0)), lines.get(1), lines.get(2), volume))
                    : Optional.empty();
        }
    }

    /// Asks the controller for a dataset, as [InlineDatasets#ask] does. For a minute after it said nothing, this waits
    /// for it only briefly: its silence has cost another pod the full time already.
    public InlineDatasets.Reply ask(String name, Pod pod, String dataset, Duration limit) {
        boolean brief = !offlineFor.isZero()
                && limit.compareTo(SHORT_WAIT) > 0
                && silent.filter(since -> nanoTime.getAsLong() - since < SILENCE.toNanos())
                        .isPresent();
        InlineDatasets.Reply reply = datasets.ask(name, pod, dataset, brief ? SHORT_WAIT : limit);
        switch (reply) {
            case InlineDatasets.Reply.Answered _ -> silent = Optional.empty();
            case InlineDatasets.Reply.Unanswered(var _, boolean nothing) -> {
                if (nothing && !brief) {
                    silent = Optional.of(nanoTime.getAsLong());
                }
            }
        }
        return reply;
    }

    /// Returns the dataset that a pod may read by its name without the controller's answer.
    ///
    /// @param away why there is no answer
    /// @throws DriverException `away`, if nothing is shown so; else as [PublishCheck#published]
    public VolumeId.DatasetVolume readable(String dataset, Pod pod, DriverException away) {
        checkAllowed(away);
        return check.published(dataset, pod.namespace());
    }

    /// Does the same for the volume of a claim.
    public void checkReadable(VolumeId.DatasetVolume volume, Pod pod, DriverException away) {
        checkAllowed(away);
        check.checkPublished(volume, pod.namespace());
    }

    private void checkAllowed(DriverException away) {
        if (offlineFor.isZero()) {
            throw away;
        }
    }

    /// Records that a dataset is about to be published without its image, so that this is mounted later whatever
    /// happens to this process.
    public void begin(OfflineDataset offline) {
        try {
            records.put(RecordFiles.nameOf(offline.target().text()), offline.text());
        } catch (IOException e) {
            LOG.atWarn()
                    .addKeyValue("path", offline.target().text())
                    .addKeyValue("reason", e.toString())
                    .log("an offline dataset is not recorded: its image is mounted with the next pod");
        }
    }

    /// Tells a pod that its dataset was published without its image.
    public void shown(OfflineDataset offline, Pod pod, DriverException away) {
        shown.inc();
        pods.report(
                pod,
                OFFLINE,
                "the pod reads dataset " + offline.dataset() + " from the replica on its node, since Ceph or the"
                        + " controller does not answer: " + away.getMessage());
    }

    /// Forgets what is no longer published at `target`.
    public void ends(TargetPath target) {
        try {
            records.remove(RecordFiles.nameOf(target.text()));
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

    /// Tries once for each dataset. Ends early if the controller still says nothing.
    public void reopen() {
        List<OfflineDataset> offline = all(); // before the pods: each is recorded after its dataset
        if (offline.isEmpty()) {
            return;
        }
        Map<String, Pod> known = published.all();
        Set<VolumeId.DatasetVolume> open = new HashSet<>();
        for (OfflineDataset each : offline) {
            Optional<Pod> pod = Optional.ofNullable(known.get(each.target().text()));
            if (open.contains(each.volume().withoutClaim())) {
                ends(each.target());
            } else if (pod.isPresent()) {
                switch (tried(each, pod.get())) {
                    case MOUNTED -> {
                        open.add(each.volume().withoutClaim());
                        ends(each.target());
                    }
                    case REFUSED -> ends(each.target());
                    case LATER -> {}
                    case SILENT -> {
                        return;
                    }
                }
            } else if (!isThere(each.target())) {
                ends(each.target());
            }
        }
    }

    private enum Tried {
        MOUNTED,
        /// The pod may not read it, or is gone.
        REFUSED,
        LATER,
        /// Nor will there be an answer for the others.
        SILENT
    }

    private Tried tried(OfflineDataset offline, Pod pod) {
        try {
            return switch (datasets.ask(offline.name(), pod, offline.dataset(), REOPEN_LIMIT)) {
                case InlineDatasets.Reply.Answered(var opened) -> {
                    silent = Optional.empty();
                    volumes.reopen(
                            offline.volume().withoutClaim(), opened.context(), opened.credentials(), REOPEN_LIMIT);
                    LOG.atInfo()
                            .addKeyValue("volume_id", offline.volume())
                            .log("the image of an offline dataset is mounted");
                    yield Tried.MOUNTED;
                }
                case InlineDatasets.Reply.Unanswered(var _, boolean nothing) -> nothing ? Tried.SILENT : Tried.LATER;
            };
        } catch (DriverException notNow) {
            LOG.atWarn()
                    .addKeyValue("volume_id", offline.volume())
                    .addKeyValue("reason", notNow.getMessage())
                    .log("the image of an offline dataset is not mounted for this pod");
            return switch (notNow) {
                case DriverException.AccessDenied _, DriverException.NotFound _ -> Tried.REFUSED;
                default -> Tried.LATER;
            };
        }
    }

    /// Looks only at the parent of the target path: the path itself may be a mount that hangs.
    private static boolean isThere(TargetPath target) {
        return Optional.ofNullable(Path.of(target.text()).getParent())
                .filter(Files::isDirectory)
                .isPresent();
    }

    /// Removes what cannot be read.
    private List<OfflineDataset> all() {
        List<OfflineDataset> found = new ArrayList<>();
        try {
            for (Map.Entry<String, String> record : records.all().entrySet()) {
                Optional<OfflineDataset> read = read(record.getValue());
                read.ifPresent(found::add);
                if (read.isEmpty()) {
                    records.remove(record.getKey());
                }
            }
        } catch (IOException e) {
            LOG.atWarn().addKeyValue("reason", e.toString()).log("cannot list the offline datasets");
        }
        return found;
    }

    private static Optional<OfflineDataset> read(String text) {
        try {
            return OfflineDataset.parse(text);
        } catch (DriverException.InvalidRequest _) {
            return Optional.empty(); // damaged
        }
    }

    @Override
    public void close() {
        running.ifPresent(BackgroundTasks.Task::close);
    }
}
