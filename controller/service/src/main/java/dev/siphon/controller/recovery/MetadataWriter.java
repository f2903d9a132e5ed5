package dev.siphon.controller.recovery;

import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Writes a volume's claim, PersistentVolume and account to the metadata of its subvolume, for people who see only
/// Ceph: `ceph fs subvolume metadata ls`. Nothing reads it to decide anything.
///
/// The mgr runs one command at a time, and CreateVolume needs it. So this writes at most one volume in each half
/// second, which takes some 3 % of the mgr's time, and a note at the subvolume's directory says what it wrote: a
/// controller that starts again asks no mgr for what is there.
public final class MetadataWriter {
    /// The keys that ceph-csi writes too (`internal/util/k8s/parameters.go`).
    public static final String VOLUME = "csi.storage.k8s.io/pv/name";

    public static final String NAMESPACE = "csi.storage.k8s.io/pvc/namespace";
    public static final String CLAIM = "csi.storage.k8s.io/pvc/name";

    /// The account as its group's note names it. Not `siphon.`: such keys are Siphon's own records.
    static final String ACCOUNT = "cephfs.siphon.dev/account";

    private static final List<String> ALL = List.of(VOLUME, NAMESPACE, CLAIM, ACCOUNT);

    /// The name of the note that has the pairs as they were last written.
    static final String NOTE = "metadata";

    private static final Logger LOG = LoggerFactory.getLogger(MetadataWriter.class);
    private static final Duration PAUSE = Duration.ofMillis(500);
    static final Duration AFTER_FAILURE = Duration.ofMinutes(1);

    /// How many volumes a step compares; only one of them is written.
    private static final int MOST_COMPARED = 100;

    private final CephPorts ports;

    /// What is not written or compared yet, oldest first.
    private final Map<VolumeId.Provisioned, Map<String, String>> waiting = new LinkedHashMap<>();

    /// When clusters whose mgr did not answer are tried again.
    private final Map<String, Instant> silent = new HashMap<>();

    private final InstantSource clock;

    public MetadataWriter(CephPorts ports, InstantSource clock) {
        this.ports = ports;
        this.clock = clock;
    }

    /// Has a volume's metadata written soon.
    ///
    /// @param pairs all keys but the account's
    void want(VolumeId.Provisioned volume, Map<String, String> pairs) {
        synchronized (waiting) {
            waiting.put(volume, pairs);
        }
    }

    /// Starts writing; it ends when the task is closed.
    public BackgroundTasks.Task start(BackgroundTasks tasks) {
        return tasks.every("subvolume-metadata", PAUSE, PAUSE, this::writeNext);
    }

    /// Writes the metadata of at most one volume.
    void writeNext() {
        for (int compared = 0; compared < MOST_COMPARED; compared++) {
            Optional<Map.Entry<VolumeId.Provisioned, Map<String, String>>> next = oldest();
            if (next.isEmpty() || wrote(next.get().getKey(), next.get().getValue())) {
                return;
            }
        }
    }

    private Optional<Map.Entry<VolumeId.Provisioned, Map<String, String>>> oldest() {
        synchronized (waiting) {
            return waiting.entrySet().stream()
                    .filter(each -> !isSilent(each.getKey().cluster()))
                    .findFirst()
                    .map(each -> Map.entry(each.getKey(), each.getValue()));
        }
    }

    private boolean isSilent(String cluster) {
        return Optional.ofNullable(silent.get(cluster))
                .filter(until -> clock.instant().isBefore(until))
                .isPresent();
    }

    /// Returns whether this step is over: the mgr was asked, or did not answer.
    private boolean wrote(VolumeId.Provisioned volume, Map<String, String> pairs) {
        boolean over = true;
        try {
            over = write(volume, pairs);
            done(volume, pairs);
            if (over) {
                silent.remove(volume.cluster());
            }
        } catch (DriverException.NotFound _) {
            // deleted meanwhile, or a volume without a subvolume
            done(volume, pairs);
        } catch (DriverException.OperationPending | DriverException.InUse busy) {
            LOG.debug("the metadata of {} is not written yet: {}", volume, busy.getMessage());
            later(volume, pairs);
        } catch (DriverException.BackendUnavailable | DriverException.DeadlinePassed notNow) {
            later(volume, pairs);
            if (silent.put(volume.cluster(), clock.instant().plus(AFTER_FAILURE)) == null) {
                LOG.warn("the metadata of {} is not written yet: {}", volume, notNow.getMessage());
            }
        } catch (DriverException refused) {
            LOG.warn(
                    "the metadata of {} is not written until its PersistentVolume changes: {}",
                    volume,
                    refused.getMessage());
            done(volume, pairs);
        }
        return over;
    }

    private void done(VolumeId.Provisioned volume, Map<String, String> pairs) {
        synchronized (waiting) {
            waiting.remove(volume, pairs);
        }
    }

    /// Lets the others go first, unless something newer is wanted for this volume.
    private void later(VolumeId.Provisioned volume, Map<String, String> pairs) {
        synchronized (waiting) {
            if (waiting.remove(volume, pairs)) {
                waiting.put(volume, pairs);
            }
        }
    }

    private boolean write(VolumeId.Provisioned volume, Map<String, String> pairs) {
        SubvolumeGroup group = SubvolumeGroup.of(volume);
        String directory = SubvolumeGroup.pathOf(volume);
        Map<String, String> wanted = new TreeMap<>(pairs);
        ports.files()
                .note(group.cluster(), group.fileSystem(), group.path(), AccountNote.NAME)
                .flatMap(AccountNote::parse)
                .ifPresent(account -> wanted.put(ACCOUNT, account.name()));
        Optional<String> noted = ports.files().note(group.cluster(), group.fileSystem(), directory, NOTE);
        if (noted.equals(Optional.of(text(wanted)))) {
            return false;
        }
        wanted.forEach((key, value) -> ports.subvolumes().setNote(volume, key, value));
        // without a note, an earlier try may have stopped half-way
        noted.map(text -> text.lines().map(line -> line.substring(0, Math.max(0, line.indexOf('=')))))
                .orElseGet(ALL::stream)
                .filter(key -> !key.isEmpty() && !wanted.containsKey(key))
                .forEach(key -> ports.subvolumes().removeNote(volume, key));
        ports.files().setNote(group.cluster(), group.fileSystem(), directory, NOTE, text(wanted));
        return true;
    }

    private static String text(Map<String, String> pairs) {
        return pairs.entrySet().stream()
                .map(pair -> pair.getKey() + "=" + pair.getValue())
                .collect(Collectors.joining("\n"));
    }
}
