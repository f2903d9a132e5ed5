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

/// Volumes that may be gone while their keys are not: a DeleteVolume that was not answered in time may have been
/// carried out since, and nobody has to ask for it again.
///
/// A volume counts as gone when two looks in a row have not found it. No key is minted while what is left of one is
/// removed, and it is looked for once more then: what comes under its name meanwhile keeps the key that it gets.
final class OrphanedKeys {
    private static final Logger LOG = LoggerFactory.getLogger(OrphanedKeys.class);
    private static final int LOOKS = 2;

    private final FileTree files;
    private final Consumer<VolumeId.Provisioned> remove;

    /// Those in doubt, with how many looks in a row have not found them.
    private final Map<VolumeId.Provisioned, Integer> missed = new ConcurrentHashMap<>();

    /// Read by who mints, written by who removes.
    private final ReentrantReadWriteLock guard = new ReentrantReadWriteLock();

    /// @param remove removes the identities and the key of a volume
    OrphanedKeys(FileTree files, Consumer<VolumeId.Provisioned> remove) {
        this.files = files;
        this.remove = remove;
    }

    /// A volume is about to go.
    void markUncertain(VolumeId.Provisioned volume) {
        missed.putIfAbsent(volume, 0);
    }

    /// Somebody has looked for a volume and not found it.
    void miss(VolumeId.Provisioned volume) {
        missed.putIfAbsent(volume, 1);
    }

    /// A volume is there, or all of it is gone.
    ///
    /// @return whether it was in doubt
    boolean resolve(VolumeId.Provisioned volume) {
        return missed.remove(volume) != null;
    }

    /// Mints a key, which nobody removes meanwhile.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if keys are being removed for longer than that
    void minting(Duration timeLeft, Runnable mint) {
        try {
            if (!guard.readLock().tryLock(timeLeft.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new DriverException.OperationPending("keys of volumes that are gone are being removed; retry");
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

    /// Looks for the volumes of a cluster that are in doubt; what could not be looked for is the next time.
    void scan(String cluster) {
        missed.keySet().stream()
                .filter(volume -> volume.cluster().equals(cluster))
                .forEach(volume -> {
                    try {
                        lookFor(volume);
                    } catch (DriverException notNow) {
                        LOG.info("it is not known yet whether volume {} is gone: {}", volume, notNow.getMessage());
                    }
                });
    }

    private void lookFor(VolumeId.Provisioned volume) {
        boolean gone = isGone(volume);
        Integer times = missed.computeIfPresent(volume, (_, before) -> gone ? before + 1 : 0);
        // whoever mints now may mint for it, so that the next look is soon enough
        if (times == null || times < LOOKS || !guard.writeLock().tryLock()) {
            return;
        }
        try {
            if (missed.containsKey(volume) && isGone(volume)) {
                remove.accept(volume);
                missed.remove(volume);
                LOG.info("volume {} is gone, and so are its keys now", volume);
            }
        } finally {
            guard.writeLock().unlock();
        }
    }

    /// Whether there is no data of it; its snapshots may be left.
    private boolean isGone(VolumeId.Provisioned volume) {
        try {
            String _ = files.dataDirectory(
                    volume.cluster(),
                    volume.fileSystem(),
                    SubvolumeGroup.of(volume).path() + "/" + volume.subvolume());
            return false;
        } catch (DriverException.NotFound _) {
            return true;
        }
    }
}
