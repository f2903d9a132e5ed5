package dev.siphon.controller.dataset;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Gives claims' volumes without a key one while some node does not request keys from the controller: a node of an
/// earlier version. Costs two requests a minute if all nodes request keys.
public final class SecretKeysForOldNodes {
    private static final Logger LOG = LoggerFactory.getLogger(SecretKeysForOldNodes.class);
    private static final Duration BETWEEN = Duration.ofMinutes(1);

    private final DatasetVolumes.Keys keys;

    public SecretKeysForOldNodes(DatasetVolumes.Keys keys) {
        this.keys = keys;
    }

    /// Starts periodic reconciliation, until the task is closed.
    public BackgroundTasks.Task start(BackgroundTasks tasks) {
        return tasks.every("claim-keys", Duration.ZERO, BETWEEN, this::reconcile);
    }

    /// Runs one pass. A volume that cannot get a key now does not block the others.
    void reconcile() {
        try {
            if (!keys.store().nodesAsk()) {
                keys.store().shown(false).forEach(this::fill);
            }
        } catch (DriverException notNow) {
            LOG.info("cannot tell now whether claims of datasets need keys: {}", notNow.getMessage());
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
