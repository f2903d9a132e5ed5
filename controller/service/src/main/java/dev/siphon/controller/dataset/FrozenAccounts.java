package dev.siphon.controller.dataset;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.AccountFreeze;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.FileSystemRef;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Packer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The accounts that may read no dataset because an administrator froze them, in any file system. A background task
/// caches them, so a hanging cluster does not delay a withdrawal in another.
public final class FrozenAccounts implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FrozenAccounts.class);

    private final Clusters clusters;
    private final FileTree files;
    private final AccountFreeze accountFreeze;

    /// The frozen groups at the last successful scan of each file system.
    private final Map<FileSystemRef, Set<String>> seen = new ConcurrentHashMap<>();

    /// One per cluster, so that none waits for another.
    private volatile List<BackgroundTasks.Task> running = List.of();

    public FrozenAccounts(Clusters clusters, FileTree files) {
        this.clusters = clusters;
        this.files = files;
        this.accountFreeze = new AccountFreeze(files);
    }

    /// Starts periodic refreshes.
    ///
    /// @param every delay from the end of one pass to the start of the next
    /// @param changed runs after a pass that found other accounts frozen than the one before
    public FrozenAccounts start(Duration every, BackgroundTasks tasks, Runnable changed) {
        running = clusters.ids().stream()
                .map(cluster -> tasks.every("frozen-accounts", Duration.ZERO, every, () -> {
                    Set<String> before = groups();
                    refreshAndLog(cluster);
                    if (!groups().equals(before)) {
                        changed.run();
                    }
                }))
                .toList();
        return this;
    }

    @Override
    public void close() {
        running.forEach(BackgroundTasks.Task::close);
    }

    private void refreshAndLog(String cluster) {
        try {
            refresh(cluster);
        } catch (DriverException notNow) {
            LOG.info(
                    "cannot update the frozen accounts of cluster {}; the old ones stay: {}",
                    cluster,
                    notNow.getMessage());
        }
    }

    /// Refreshes one cluster. A file system that does not reply keeps its cached state and does not block the
    /// others.
    void refresh(String cluster) {
        for (Clusters.FileSystem fileSystem : clusters.fileSystems(cluster)) {
            try {
                seen.put(
                        new FileSystemRef(cluster, fileSystem.name()),
                        files.groupsWith(cluster, fileSystem.name(), AccountFreeze.NOTE));
            } catch (DriverException notNow) {
                LOG.info(
                        "cannot update the frozen accounts in file system {} of cluster {}; the old ones stay: {}",
                        fileSystem.name(),
                        cluster,
                        notNow.getMessage());
            }
        }
    }

    /// Whether an account was frozen at the last refresh. Sends no request.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the dataset's file system was never scanned
    boolean isFrozenAtLastScan(Account account, Dataset dataset) {
        String group = CephNames.group(account.id());
        if (seen.values().stream().anyMatch(frozen -> frozen.contains(group))) {
            return true;
        }
        cluster(dataset)
                .map(cluster -> new FileSystemRef(cluster, dataset.fileSystem()))
                .filter(place -> !seen.containsKey(place))
                .ifPresent(place -> {
                    throw new DriverException.BackendUnavailable("the frozen accounts are not known yet: file"
                            + " system " + place.fileSystem() + " of cluster " + place.cluster()
                            + " has not answered; retry");
                });
        return false;
    }

    /// As [#isFrozenAtLastScan], but also reads the dataset's file system now: true as soon as the account is
    /// frozen there. Before the first refresh of that file system, this call does it.
    boolean isFrozen(Account account, Dataset dataset) {
        Optional<String> cluster = cluster(dataset);
        cluster.filter(known -> !seen.containsKey(new FileSystemRef(known, dataset.fileSystem())))
                .ifPresent(this::refresh);
        return isFrozenAtLastScan(account, dataset)
                || cluster.map(known -> new SubvolumeGroup(known, dataset.fileSystem(), CephNames.group(account.id())))
                        .filter(accountFreeze::isFrozen)
                        .isPresent();
    }

    /// Refuses a dataset that a frozen account sealed: [dev.siphon.controller.offboard.Freezer] has marked its
    /// image. Only new claims are checked; a new pod that names the dataset itself begins. A directory that an
    /// administrator declared has no owner and is not read: the driver's identity may lack permission.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if its account is frozen
    void checkSealerNotFrozen(VolumeId.DatasetVolume volume, String name) {
        if (Packer.isPlaceOfImage(volume.path())
                && files.note(volume.cluster(), volume.fileSystem(), volume.path(), AccountFreeze.NOTE)
                        .isPresent()) {
            throw new DriverException.InUse("the account that has sealed dataset " + name
                    + " is frozen, so no new claim gets it; siphon user offboard --unfreeze ends that");
        }
    }

    /// Returns the groups of all accounts that were frozen at the last refresh.
    Set<String> groups() {
        return seen.values().stream().flatMap(Set::stream).collect(Collectors.toSet());
    }

    /// Returns the cluster of a dataset; empty if its declaration is invalid, which is reported elsewhere.
    private Optional<String> cluster(Dataset dataset) {
        try {
            return dataset.cluster()
                    .or(() -> Optional.of(clusters.defaultCluster()))
                    .filter(clusters.ids()::contains);
        } catch (DriverException.InvalidRequest noDefault) {
            return Optional.empty();
        }
    }
}
