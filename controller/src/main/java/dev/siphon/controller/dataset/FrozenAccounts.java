package dev.siphon.controller.dataset;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.AccountFreeze;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Packer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Which accounts read no dataset because an administrator has frozen them, in whatever file system. It is looked
/// up in the background and kept in memory: a cluster that hangs keeps no reader of another from being withdrawn.
public final class FrozenAccounts implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FrozenAccounts.class);

    private final Clusters clusters;
    private final FileTree files;
    private final AccountFreeze accountFreeze;

    /// The groups that were frozen when each file system was last looked through.
    private final Map<FileSystemRef, Set<String>> seen = new ConcurrentHashMap<>();

    private record FileSystemRef(String cluster, String fileSystem) {}

    /// One thread for each cluster, so that none waits for another.
    private final ScheduledExecutorService workers;

    public FrozenAccounts(Clusters clusters, FileTree files) {
        this.clusters = clusters;
        this.files = files;
        this.accountFreeze = new AccountFreeze(files);
        this.workers = Executors.newScheduledThreadPool(
                clusters.ids().size(),
                Thread.ofPlatform().daemon().name("frozen-accounts-", 0).factory());
    }

    /// Begins to look.
    ///
    /// @param every how long after one look the next one begins
    public FrozenAccounts start(Duration every, BackgroundTasks tasks) {
        for (String cluster : clusters.ids()) {
            var _ = workers.scheduleWithFixedDelay(
                    tasks.guarded("frozen-accounts", () -> refreshAndLog(cluster)),
                    0,
                    every.toMillis(),
                    TimeUnit.MILLISECONDS);
        }
        return this;
    }

    @Override
    public void close() {
        workers.shutdownNow();
    }

    private void refreshAndLog(String cluster) {
        try {
            refresh(cluster);
        } catch (DriverException notNow) {
            LOG.info("which accounts of cluster {} are frozen stays as it was known: {}", cluster, notNow.getMessage());
        }
    }

    /// Looks once. A file system that does not answer stays as it was known, and keeps none of the others.
    void refresh(String cluster) {
        for (Clusters.FileSystem fileSystem : clusters.fileSystems(cluster)) {
            try {
                seen.put(
                        new FileSystemRef(cluster, fileSystem.name()),
                        files.groupsWith(cluster, fileSystem.name(), AccountFreeze.NOTE));
            } catch (DriverException notNow) {
                LOG.info(
                        "which accounts are frozen in file system {} of cluster {} stays as it was known: {}",
                        fileSystem.name(),
                        cluster,
                        notNow.getMessage());
            }
        }
    }

    /// Whether an account was frozen at the last look. Asks nobody.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the dataset's file system was never
    ///     looked through
    boolean wasFrozen(Account account, Dataset dataset) {
        String group = CephNames.group(account.id());
        if (seen.values().stream().anyMatch(frozen -> frozen.contains(group))) {
            return true;
        }
        cluster(dataset)
                .map(cluster -> new FileSystemRef(cluster, dataset.fileSystem()))
                .filter(place -> !seen.containsKey(place))
                .ifPresent(place -> {
                    throw new DriverException.BackendUnavailable("which accounts are frozen is not known yet: file"
                            + " system " + place.fileSystem() + " of cluster " + place.cluster()
                            + " has not answered; retry");
                });
        return false;
    }

    /// The same with what the dataset's file system says now: true from the moment that the account is frozen
    /// there. Whoever asks before the first look waits for one.
    boolean isFrozen(Account account, Dataset dataset) {
        Optional<String> cluster = cluster(dataset);
        cluster.filter(known -> !seen.containsKey(new FileSystemRef(known, dataset.fileSystem())))
                .ifPresent(this::refresh);
        return wasFrozen(account, dataset)
                || cluster.map(known -> new SubvolumeGroup(known, dataset.fileSystem(), CephNames.group(account.id())))
                        .filter(accountFreeze::isFrozen)
                        .isPresent();
    }

    /// Refuses to give out a dataset that a frozen account has sealed. Where an administrator has declared another
    /// directory nobody owns it, and nobody looks: the driver's identity may not be able to.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it has
    void checkOwner(VolumeId.DatasetVolume volume, String name) {
        if (Packer.isPlaceOfImage(volume.path())
                && files.note(volume.cluster(), volume.fileSystem(), volume.path(), AccountFreeze.NOTE)
                        .isPresent()) {
            throw new DriverException.InUse("the account that has sealed dataset " + name
                    + " is frozen: no new claim gets it; siphon user offboard --unfreeze lets the account go on");
        }
    }

    /// The groups of all accounts that were frozen at the last look.
    Set<String> groups() {
        return seen.values().stream().flatMap(Set::stream).collect(Collectors.toSet());
    }

    /// That of a dataset; empty if it is declared wrong, which others tell.
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
