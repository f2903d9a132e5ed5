package dev.siphon.controller.seal;

import dev.siphon.controller.seal.ReadBack.State;
import dev.siphon.controller.seal.ReadBacks.Image;
import dev.siphon.controller.seal.SealingCluster.Notice;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.SnapshotClass.SnapshotRequest;
import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Packer;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Checks the images of snapshots that a version without checks sealed: one after the other, when nobody waits to
/// seal. Meanwhile they are used as before. The result is recorded at each Dataset, so no image is read twice.
public final class UnverifiedImages {
    private static final Logger LOG = LoggerFactory.getLogger(UnverifiedImages.class);
    private static final Duration BETWEEN = Duration.ofSeconds(15);

    /// How many images one round processes.
    private static final int MOST = 10;

    /// Every 20th round also retries images whose check failed.
    static final int RARELY = 20;

    private final Parts parts;
    private final Gauge left;
    private int looks;

    /// The ports that it needs.
    ///
    /// @param operations the locks for sealing and deleting images
    record Parts(
            Clusters clusters, FileTree files, SealingCluster cluster, Packers packers, KeyedOperations operations) {}

    UnverifiedImages(Parts parts, PrometheusRegistry metrics) {
        this.parts = parts;
        this.left = Gauge.builder()
                .name("siphon_images_not_read_back")
                .help("Datasets of sealed snapshots whose images were not yet read back, or not successfully")
                .register(metrics);
    }

    /// Starts the rounds; they end when the task is closed.
    public BackgroundTasks.Task start(BackgroundTasks tasks) {
        return tasks.every("earlier-images", BETWEEN, BETWEEN, this::verifyAndLog);
    }

    private void verifyAndLog() {
        try {
            verifyNext();
        } catch (DriverException notNow) {
            LOG.info("images that an earlier version sealed are read back later: {}", notNow.getMessage());
        }
    }

    /// Does one round. Running checks come first, then waiting images in random order, so that an unreadable image
    /// does not block the others.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if something does not answer
    void verifyNext() {
        List<Image> images = new ArrayList<>(parts.cluster().readBacks().all());
        images.removeIf(image -> image.state() == State.DONE);
        left.set(images.size());
        if (looks++ % RARELY != 0) {
            images.removeIf(image -> image.state() != State.READS && image.state() != State.WAITS);
        }
        Collections.shuffle(images);
        images.sort(Comparator.comparing(Image::state));
        images.stream().filter(image -> image.noted().isEmpty()).forEach(image -> note(image, ReadBack.WAITS));
        boolean busy = false;
        for (int i = 0; i < Math.min(images.size(), MOST) && !busy; i++) {
            busy = continueImage(images.get(i));
        }
    }

    /// @return whether the next image has to wait
    private boolean continueImage(Image image) {
        try {
            return parts.operations()
                    .run(SealedSnapshots.key(image.dataset().path()), () -> readBackStill(image.dataset()));
        } catch (DriverException.OperationPending beingSealed) {
            return false;
        } catch (DriverException.BackendUnavailable silent) {
            throw silent;
        } catch (DriverException refused) {
            failed(
                    image,
                    new PackerOutcome.Failed(String.valueOf(refused.getMessage()), false),
                    "the controller tries again");
            return false;
        }
    }

    /// Skips an image that was deleted, or checked, since it was listed.
    private boolean readBackStill(Dataset listed) {
        return parts.cluster()
                .readBacks()
                .find(listed.name())
                .filter(now -> now.state() != State.DONE)
                .map(this::readBack)
                .orElse(false);
    }

    private boolean readBack(Image image) {
        if (image.noted().isEmpty()) {
            LOG.warn(
                    "Dataset {} cannot store whether its image was read back: apply this version's custom resource",
                    image.dataset().name());
            return false;
        }
        VolumeId.Static target = target(image.dataset());
        Optional<PackerOutcome> job = parts.packers().check(target);
        String again = job.isPresent()
                ? "delete Job " + Packer.checkerOf(target) + " to have it read again"
                : "the controller checks it again";
        PackerOutcome now = job.orElseGet(() -> begin(image, target));
        switch (now) {
            case PackerOutcome.Running _ when image.state() != State.REFUSED -> note(image, ReadBack.READS);
            case PackerOutcome.Queued _ when image.state() == State.READS -> note(image, ReadBack.WAITS);
            case PackerOutcome.Failed failed -> failed(image, failed, again);
            case PackerOutcome.Ended _ -> ended(image, target);
            default -> LOG.debug("{}: {}", image.dataset().name(), now);
        }
        return now instanceof PackerOutcome.Running || now instanceof PackerOutcome.Queued;
    }

    private VolumeId.Static target(Dataset dataset) {
        return new VolumeId.Static(
                dataset.cluster().orElseGet(parts.clusters()::defaultCluster), dataset.fileSystem(), dataset.path());
    }

    /// Evicts the packer's sessions first, because earlier versions did not.
    private PackerOutcome begin(Image image, VolumeId.Static target) {
        return parts.packers().end(target)
                ? parts.packers().beginCheck(target, image.dataset().digest(), true)
                : new PackerOutcome.Running("its packer is being stopped");
    }

    /// Records success only if the manifest is still this Dataset's: the Job may have belonged to another Dataset
    /// in the same directory.
    private void ended(Image image, VolumeId.Static target) {
        boolean right = parts.files()
                .digest(target.cluster(), target.fileSystem(), target.path() + "/" + Dataset.MANIFEST)
                .filter(read -> read.sha256().equals(image.dataset().digest()))
                .isPresent();
        boolean _ = parts.packers().removeCheck(target); // it ended
        if (right) {
            note(image, ReadBack.DONE);
            LOG.info(
                    "the image of dataset {} was read back, and is right",
                    image.dataset().name());
        }
    }

    /// @param again what triggers another try
    private void failed(Image image, PackerOutcome.Failed failed, String again) {
        Dataset dataset = image.dataset();
        ReadBack now = failed.unlike()
                ? new ReadBack(
                        State.REFUSED,
                        failed.why() + "; delete its VolumeSnapshot and take another one; if the image was repaired, "
                                + again)
                : new ReadBack(State.FAILED, failed.why() + "; " + again);
        // a refused image stays refused until all of it was read
        if ((image.state() != State.REFUSED || failed.unlike()) && note(image, now)) {
            LOG.warn("the image of dataset {} was not read back: {}", dataset.name(), now);
            if (failed.unlike()) {
                report(dataset, new Notice(true, "DatasetNotSealed", "its image was read back and is " + now));
            }
        }
    }

    private void report(Dataset dataset, Notice notice) {
        VolumeId.Static target = target(dataset);
        parts.files()
                .note(target.cluster(), target.fileSystem(), target.path(), DatasetPlace.ASKED)
                .flatMap(SnapshotRequest::parse)
                .ifPresent(asked -> parts.cluster().report(asked, notice));
    }

    /// @return whether the state changed
    private boolean note(Image image, ReadBack now) {
        if (image.noted().equals(Optional.of(now))) {
            return false;
        }
        parts.cluster().readBacks().note(image.dataset().name(), now);
        return true;
    }
}
