package dev.siphon.controller.key;

import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Removes the keys of volumes that may have been deleted. A DeleteVolume that missed its deadline may still
/// succeed later, and the CO need not retry it.
///
/// A volume counts as gone after two scans in a row did not find it. Its keys are then removed under a lock that
/// excludes minting, after a last check. So a new volume of the same name keeps its key.
final class OrphanedKeys {
    private static final Logger LOG = LoggerFactory.getLogger(OrphanedKeys.class);
    private static final int LOOKS = 2;

    private final FileTree files;
    private final Consumer<VolumeId.Provisioned> remove;

    /// The volumes in doubt, each with the number of successive misses.
    private final Map<VolumeId.Provisioned, Integer> missed = new ConcurrentHashMap<>();

    /// Read lock for minting, write lock for removal.
    private final ReentrantReadWriteLock guard = new ReentrantReadWriteLock();

    /// @param remove removes the identities and the key of a volume
    OrphanedKeys(FileTree files, Consumer<VolumeId.Provisioned> remove) {
        this.files = files;
        this.remove = remove;
    }

    /// Marks a volume that is about to be deleted.
    void markUncertain(VolumeId.Provisioned volume) {
        missed.putIfAbsent(volume, 0);
    }

    /// Records that a volume was not found.
    void miss(VolumeId.Provisioned volume) {
        missed.putIfAbsent(volume, 1);
    }

    /// Removes a volume from the doubtful ones, because it exists or is completely gone.
    ///
    /// @return whether it was in doubt
    boolean resolve(VolumeId.Provisioned volume) {
        return missed.remove(volume) != null;
    }

    /// Mints a key while removal is locked out.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if a removal takes longer than `timeLeft`
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the driver is stopping
    void minting(Duration timeLeft, Runnable mint) {
        try {
            if (!guard.readLock().tryLock(timeLeft.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new DriverException.OperationPending("keys of deleted volumes are being removed; retry");
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("the driver is stopping; retry");
        }
        try {
            mint.run();
        } finally {
            guard.readLock().unlock();
        }
    }

    /// Checks the doubtful volumes of a cluster. A volume that cannot be checked now is checked in the next scan.
    void scan(String cluster) {
        missed.keySet().stream()
                .filter(volume -> volume.cluster().equals(cluster))
                .forEach(volume -> {
                    try {
                        lookFor(volume);
                    } catch (DriverException notNow) {
                        LOG.info("it is not known yet whether volume {} was deleted: {}", volume, notNow.getMessage());
                    }
                });
    }

    private void lookFor(VolumeId.Provisioned volume) {
        boolean gone = isGone(volume);
        Integer times = missed.computeIfPresent(volume, (_, before) -> gone ? before + 1 : 0);
        // a mint in progress may be for this volume; the next scan is soon enough
        if (times == null || times < LOOKS || !guard.writeLock().tryLock()) {
            return;
        }
        try {
            if (missed.containsKey(volume) && isGone(volume)) {
                remove.accept(volume);
                missed.remove(volume);
                LOG.info("volume {} no longer exists, so its keys were removed", volume);
            }
        } finally {
            guard.writeLock().unlock();
        }
    }

    /// Returns whether the volume's data is gone; its snapshots may be left.
    private boolean isGone(VolumeId.Provisioned volume) {
        try {
            String _ = files.dataDirectory(volume.cluster(), volume.fileSystem(), SubvolumeGroup.pathOf(volume));
            return false;
        } catch (DriverException.NotFound _) {
            return true;
        }
    }
}
