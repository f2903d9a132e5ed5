package dev.siphon.controller.dataset;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Gives the volumes of claims that were made without a key one, while there is a node that does not ask
/// the controller: one of an earlier version came, or comes back. Two requests a minute where all ask.
public final class StaticClaimKeys {
    private static final Logger LOG = LoggerFactory.getLogger(StaticClaimKeys.class);
    private static final Duration BETWEEN = Duration.ofMinutes(1);

    private final DatasetVolumes.Keys keys;

    public StaticClaimKeys(DatasetVolumes.Keys keys) {
        this.keys = keys;
    }

    /// Begins to look, until the task is closed.
    public BackgroundTasks.Task start(BackgroundTasks tasks) {
        return tasks.every("claim-keys", Duration.ZERO, BETWEEN, this::reconcile);
    }

    /// Looks once. One that cannot be given a key now keeps none from the others.
    void reconcile() {
        try {
            if (!keys.store().nodesAsk()) {
                keys.store().shown(false).forEach(this::fill);
            }
        } catch (DriverException notNow) {
            LOG.info("whether claims of datasets need keys is not known now: {}", notNow.getMessage());
        }
    }

    private void fill(VolumeId.DatasetVolume volume) {
        try {
            keys.fill(volume);
        } catch (DriverException notNow) {
            LOG.warn("volume {} has no key for nodes that do not ask for one: {}", volume, notNow.getMessage());
        }
    }
}
