package dev.siphon.controller.recovery;

import dev.siphon.controller.dataset.DatasetCatalog;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.KeyMinting;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Records in Ceph what only Kubernetes knows, so that a lost Kubernetes can be rebuilt: the PersistentVolume of
/// each volume, the VolumeSnapshot of each snapshot, the Datasets.
///
/// CreateVolume does not wait for it. A new volume is recorded within seconds (one request to the API server and
/// two round trips to the MDS). All volumes are checked at the start and every ten minutes. What is already
/// recorded costs only the list.
///
/// An object that vanishes from Kubernetes keeps its record: Kubernetes itself may have been lost. Only a Dataset
/// that this controller has seen loses its record: whoever deletes it revokes it from its readers.
public final class RecordWriter {
    private static final Logger LOG = LoggerFactory.getLogger(RecordWriter.class);
    private static final Duration PAUSE = Duration.ofSeconds(5);
    static final Duration VOLUMES = Duration.ofMinutes(10);
    static final Duration DATASETS = Duration.ofMinutes(1);

    /// How long a new PersistentVolume is polled for: the provisioner creates it right after CreateVolume. A later
    /// one is found by the check of all volumes.
    private static final Duration EXPECTED = Duration.ofMinutes(2);

    /// A round ends after so many directories in a row that do not answer.
    private static final int MOST_SILENT = 20;

    private final ClusterRecords cluster;
    private final DatasetCatalog datasets;
    private final Clusters clusters;
    private final FileTree files;
    private final MetadataWriter metadata;
    private final InstantSource clock;

    /// The names of expected PersistentVolumes, with the time of CreateVolume.
    private final Map<String, Instant> expected = new ConcurrentHashMap<>();

    /// Digests of what is recorded, by directory and note.
    private final Map<RecordLocation, String> written = new HashMap<>();

    /// The locations of the declared datasets that were seen, by name.
    private final Map<String, RecordLocation> declared = new HashMap<>();

    private Instant volumesSeen = Instant.EPOCH;
    private Instant datasetsSeen = Instant.EPOCH;
    private int silentInARow;
    private Optional<String> trouble = Optional.empty();

    record RecordLocation(String cluster, String fileSystem, String path, String note) {}

    public RecordWriter(
            ClusterRecords cluster,
            DatasetCatalog datasets,
            CephPorts ports,
            MetadataWriter metadata,
            InstantSource clock) {
        this.cluster = cluster;
        this.datasets = datasets;
        this.clusters = ports.clusters();
        this.files = ports.files();
        this.metadata = metadata;
        this.clock = clock;
    }

    /// Wraps the minting of keys, so that this writer learns of new volumes.
    public KeyMinting after(KeyMinting keys) {
        return new KeyMinting() {
            @Override
            public void made(VolumeId.Provisioned volume, VolumeContext context, String name) {
                expected.put(name, clock.instant());
                keys.made(volume, context, name);
            }

            @Override
            public void leaving(VolumeId.Provisioned volume) {
                keys.leaving(volume);
            }

            @Override
            public void removed(VolumeId.Provisioned volume) {
                keys.removed(volume);
            }
        };
    }

    /// Starts recording; it ends when the task is closed.
    public BackgroundTasks.Task start(BackgroundTasks tasks) {
        BackgroundTasks.Task writing = metadata.start(tasks);
        BackgroundTasks.Task recording = tasks.every("cluster-records", PAUSE, PAUSE, this::reconcileAndLog);
        return () -> {
            recording.close();
            writing.close();
        };
    }

    private void reconcileAndLog() {
        try {
            reconcile();
            trouble = Optional.empty();
        } catch (DriverException notNow) {
            warnOnce(String.valueOf(notNow.getMessage()));
        }
    }

    /// Logs a problem, but not twice in a row.
    private void warnOnce(String what) {
        if (!trouble.equals(Optional.of(what))) {
            LOG.warn("not all Kubernetes objects are recorded in Ceph: {}", what);
        }
        trouble = Optional.of(what);
    }

    /// Runs the checks that are due.
    ///
    /// @throws DriverException if Kubernetes or Ceph does not answer; the check is retried
    void reconcile() {
        silentInARow = 0;
        Instant now = clock.instant();
        if (!now.isBefore(volumesSeen.plus(VOLUMES))) {
            // after a failure, wait a minute before the next try
            volumesSeen = now.minus(VOLUMES).plus(DATASETS);
            lookAtVolumes();
            volumesSeen = now;
        } else {
            lookForNew(now);
        }
        if (!now.isBefore(datasetsSeen.plus(DATASETS))) {
            datasetsSeen = now;
            lookAtDatasets();
        }
    }

    private void lookAtVolumes() {
        Set<RecordLocation> there = new HashSet<>();
        cluster.eachVolume(volume -> there.add(write(volume)));
        cluster.eachSnapshot(snapshot -> {
            RecordLocation place = place(
                    snapshot.snapshot().volume(),
                    RecordNotes.ofSnapshot(snapshot.snapshot().name()));
            there.add(place);
            boolean _ = write(
                    place,
                    new RecordNotes.RecordedSnapshot(snapshot.namespace(), snapshot.name(), snapshot.className())
                            .text());
        });
        there.addAll(declared.values());
        written.keySet().retainAll(there);
    }

    private void lookForNew(Instant now) {
        expected.forEach((name, made) -> {
            Optional<ClusterRecords.VolumeRecord> found = cluster.volume(name);
            found.ifPresent(this::write);
            if (found.isPresent() || made.plus(EXPECTED).isBefore(now)) {
                expected.remove(name, made);
            }
        });
    }

    private void lookAtDatasets() {
        DatasetCatalog.Declared all = datasets.all();
        Map<RecordLocation, DatasetRecords> now = new HashMap<>();
        Map<String, RecordLocation> places = new HashMap<>();
        all.datasets().forEach(dataset -> {
            String where = dataset.cluster().orElseGet(clusters::defaultCluster);
            if (clusters.ids().contains(where)) {
                RecordLocation place =
                        new RecordLocation(where, dataset.fileSystem(), dataset.path(), RecordNotes.DATASETS);
                places.put(dataset.name(), place);
                now.merge(place, DatasetRecords.of(dataset, all.readers(dataset.name())), DatasetRecords::and);
            }
        });
        now.forEach((place, records) -> {
            boolean _ = write(place, records.text());
        });
        declared.forEach((name, place) -> {
            // one that cannot be parsed now is still declared
            boolean gone = !places.containsKey(name) && !all.wrong().containsKey(name);
            if (gone && !now.containsKey(place)) {
                boolean _ = attempt(place, () -> set(place, ""));
                written.remove(place);
            }
        });
        declared.keySet().retainAll(all.wrong().keySet());
        declared.putAll(places);
    }

    private static RecordLocation place(VolumeId.Provisioned volume, String note) {
        return new RecordLocation(volume.cluster(), volume.fileSystem(), SubvolumeGroup.pathOf(volume), note);
    }

    /// Records a PersistentVolume, and has the metadata of its subvolume follow it.
    private RecordLocation write(ClusterRecords.VolumeRecord volume) {
        RecordLocation place = place(volume.volume(), RecordNotes.VOLUME);
        if (write(place, volume.text())) {
            metadata.want(volume.volume(), volume.metadata());
        }
        return place;
    }

    /// Returns whether the record is there, and was not known to be there before.
    private boolean write(RecordLocation place, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        String digest = Digest.of(ByteBuffer.wrap(bytes)).beginning();
        if (digest.equals(written.get(place)) || !clusters.ids().contains(place.cluster())) {
            return false;
        }
        if (bytes.length > RecordNotes.MOST_BYTES) {
            warnOnce(place.path() + ": " + place.note() + " takes " + bytes.length + " bytes, but only "
                    + RecordNotes.MOST_BYTES + " are allowed");
            return false;
        }
        return attempt(place, () -> {
            if (!files.note(place.cluster(), place.fileSystem(), place.path(), place.note())
                    .equals(Optional.of(text))) {
                set(place, text);
            }
            written.put(place, digest);
        });
    }

    private void set(RecordLocation place, String text) {
        files.setNote(place.cluster(), place.fileSystem(), place.path(), place.note(), text);
    }

    /// Applies one change. A directory that does not answer, or that the controller may not write, does not block
    /// the others.
    ///
    /// @return whether the change was made
    private boolean attempt(RecordLocation place, Runnable change) {
        try {
            change.run();
            silentInARow = 0;
            return true;
        } catch (DriverException.NotFound _) {
            // the directory was removed meanwhile
        } catch (DriverException notNow) {
            warnOnce(place.path() + ": " + notNow.getMessage());
            silentInARow = notNow instanceof DriverException.BackendUnavailable ? silentInARow + 1 : 0;
            if (silentInARow >= MOST_SILENT) {
                throw notNow;
            }
        }
        return false;
    }
}
