package dev.siphon.controller.grant;

import dev.siphon.controller.volume.AccountAccess;
import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Grants namespaces the accounts' volumes that administrators gave them by PersistentVolumes, for example after
/// the loss of a Kubernetes cluster. These volumes get no CreateVolume that would grant them.
///
/// This adds no privilege: whoever can write PersistentVolumes can already mount everything that the cluster can.
public final class AdoptedVolumes {
    private static final Logger LOG = LoggerFactory.getLogger(AdoptedVolumes.class);
    private static final Duration PAUSE = Duration.ofSeconds(2);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final FileTree files;
    private final AccountAccess access;
    private final InstantSource clock;

    /// Grants still to be made. A missing namespace may still be created.
    private final Map<NamespaceUse, Due> pending = new ConcurrentHashMap<>();

    private record NamespaceUse(SubvolumeGroup group, String namespace) {}

    private record Due(Instant when, Duration pause) {}

    public AdoptedVolumes(FileTree files, AccountAccess access, InstantSource clock) {
        this.files = files;
        this.access = access;
        this.clock = clock;
    }

    /// Queues a grant for a volume that is bound to a claim of the namespace. Makes no call.
    public void adopt(VolumeId.Provisioned volume, String namespace) {
        pending.putIfAbsent(new NamespaceUse(SubvolumeGroup.of(volume), namespace), new Due(clock.instant(), PAUSE));
    }

    /// Starts granting, until the task is closed.
    public BackgroundTasks.Task start(BackgroundTasks tasks) {
        return tasks.every("adopted-volumes", PAUSE, PAUSE, this::reconcile);
    }

    /// Makes the grants that are due; failed ones are retried with exponential backoff.
    void reconcile() {
        pending.forEach((use, due) -> {
            if (due.when().isAfter(clock.instant())) {
                return;
            }
            try {
                access.grant(use.group(), account(use.group()), use.namespace());
                pending.remove(use);
                LOG.info(
                        "namespace {} may use the volumes of {} now: a claim there is bound to one",
                        use.namespace(),
                        use.group());
            } catch (DriverException notYet) {
                Duration twice = due.pause().multipliedBy(2);
                Duration pause = twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
                pending.put(use, new Due(clock.instant().plus(pause), pause));
                LOG.info(
                        "namespace {} may not use the volumes of {} yet: {}",
                        use.namespace(),
                        use.group(),
                        notYet.getMessage());
            }
        });
    }

    private String account(SubvolumeGroup group) {
        return files.note(group.cluster(), group.fileSystem(), group.path(), AccountNote.NAME)
                .flatMap(AccountNote::parse)
                .map(AccountNote::name)
                .orElseGet(group::name);
    }
}
