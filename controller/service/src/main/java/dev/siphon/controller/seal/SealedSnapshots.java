package dev.siphon.controller.seal;

import dev.siphon.controller.dataset.DatasetCatalog;
import dev.siphon.controller.dataset.DatasetVolumes;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.key.ClientSessions;
import dev.siphon.controller.key.Identities;
import dev.siphon.controller.seal.SealingCluster.Notice;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.ControllerDomain;
import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.SnapshotClass.Sealing;
import dev.siphon.controller.volume.SnapshotClass.SnapshotRequest;
import dev.siphon.controller.volume.SnapshotDatasets;
import dev.siphon.controller.volume.SnapshotView;
import dev.siphon.controller.volume.Snapshots;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Digest;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/// Seals the snapshots of a class with `kind: dataset`. Each call does the next step and returns; callers retry
/// until the snapshot is ready. There is no journal: the image's directory, the packer and the Dataset hold the
/// progress. All their names derive from the snapshot's id.
public final class SealedSnapshots implements SnapshotDatasets {
    private static final String BEING_SEALED = "DatasetBeingSealed";
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final Clusters clusters;
    private final FileTree files;
    private final Snapshots snapshots;
    private final DatasetCatalog datasets;
    private final DatasetVolumes.Keys keys;
    private final SealingCluster cluster;
    private final Packers packers;
    private final Duration patience;
    private final KeyedOperations operations = new KeyedOperations();

    /// The last reported message of each snapshot that is not ready yet.
    private final Map<SnapshotId, String> told = new ConcurrentHashMap<>();

    /// The ports that sealing needs.
    ///
    /// @param keys the keys of readers
    /// @param identities mints those of packers
    /// @param sessions evicts the sessions of packers
    /// @param patience how long one call waits for the check of an image
    public record Ports(
            CephPorts ceph,
            DatasetCatalog datasets,
            DatasetVolumes.Keys keys,
            Identities identities,
            ClientSessions sessions,
            SealingCluster cluster,
            Duration patience) {}

    public SealedSnapshots(Ports ports, ControllerDomain domain) {
        this.clusters = ports.ceph().clusters();
        this.files = ports.ceph().files();
        this.snapshots = domain.snapshots();
        this.datasets = ports.datasets();
        this.keys = ports.keys();
        this.cluster = ports.cluster();
        this.packers = new Packers(ports, domain);
        this.patience = ports.patience();
    }

    /// Takes a snapshot, or finds the one that an earlier try took, and does the next step for its image (CSI
    /// v1.13, CreateSnapshot). The call that takes the snapshot returns before the image is begun. So if later
    /// calls fail, the caller knows the snapshot's id and can delete it.
    ///
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if the dataset's name is taken
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if snapshot and image do not fit the account's
    ///     allowance
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the packer failed or cannot run, or the image is
    ///     refused
    /// @throws DriverException whatever [Snapshots#create] throws
    public SnapshotView create(VolumeId source, String name, Sealing sealing) {
        SnapshotId id = snapshots.toSeal(source, name, sealing.modes());
        return operations.run(key(new DatasetPlace(id).path()), () -> {
            boolean known = snapshots.find(id).isPresent();
            SnapshotView taken = snapshots.createToSeal(id, name);
            return !known || taken.ready() ? taken : continueSealing(taken, sealing);
        });
    }

    private SnapshotView continueSealing(SnapshotView taken, Sealing sealing) {
        try {
            return wasSealed(new SealedDirectory(files, new DatasetPlace(taken.id()))) || seal(taken, sealing)
                    ? taken.sealed()
                    : taken;
        } catch (DriverException.InUse | DriverException.IncompatibleExisting | DriverException.QuotaExhausted no) {
            report(taken.id(), sealing.object(), new Notice(true, "DatasetNotSealed", no.getMessage()));
            throw no;
        }
    }

    /// Whether a controller of another version sealed the image, and left the note that it is not sealed. The proof
    /// is a declared Dataset with the noted digest, because no packer can declare one.
    private boolean wasSealed(SealedDirectory directory) {
        Optional<Digest> noted = directory.sealed().map(SealedImage::digest);
        boolean was = noted.isPresent()
                && directory
                        .dataset()
                        .flatMap(datasets::find)
                        .filter(found -> found.path().equals(directory.place().path()))
                        .map(Dataset::digest)
                        .equals(noted);
        if (was) {
            directory.place().end(files);
        }
        return was;
    }

    /// @return whether sealing is complete
    private boolean seal(SnapshotView snapshot, Sealing sealing) {
        DatasetPlace place = new DatasetPlace(snapshot.id());
        SealedDirectory directory = new SealedDirectory(files, place);
        if (directory.dataset().isEmpty() || !place.isBegun(files)) {
            begin(snapshot, directory, sealing);
        }
        if (directory.image().isEmpty()) {
            report(snapshot.id(), sealing.object(), new Notice(false, BEING_SEALED, pack(place, sealing)));
            return false;
        }
        String progress = switch (awaitReadBack(directory)) {
            case PackerOutcome.Running(var how) -> how;
            case PackerOutcome.Queued(var how) -> how;
            case PackerOutcome.Ended _ -> "";
            case PackerOutcome.Failed failed ->
                throw new DriverException.InUse("the image of snapshot " + snapshot.id()
                        + " was read back and is refused: " + failed.why() + "; delete Job " + place.checker()
                        + " to have it read again, or delete this VolumeSnapshot and take another one");
        };
        Optional<SealedImage> image = progress.isEmpty() ? directory.image() : Optional.empty();
        Notice notice = image.map(made -> finish(directory, sealing, made))
                .map(name -> new Notice(false, "DatasetSealed", "is dataset " + name))
                .orElseGet(() -> new Notice(false, BEING_SEALED, progress));
        report(snapshot.id(), sealing.object(), notice);
        if (image.isPresent()) {
            told.remove(snapshot.id());
        }
        return image.isPresent();
    }

    /// @return the progress
    private String pack(DatasetPlace place, Sealing sealing) {
        return switch (packers.continuePacking(place, sealing)) {
            case PackerOutcome.Running(var how) -> how;
            case PackerOutcome.Queued(var how) -> how;
            case PackerOutcome.Ended _ -> "its packer has ended";
            case PackerOutcome.Failed failed ->
                throw new DriverException.InUse(
                        "the packer of snapshot " + place.snapshot() + " has failed: " + failed.why()
                                + "; when that is fixed, delete Job " + place.packer()
                                + " to continue, or delete this VolumeSnapshot and take another one");
        };
    }

    /// Polls within the call, because the steps from the packer's end to that of a short check take seconds. A
    /// snapshotter that has retried a few times retries only every 30 s.
    private PackerOutcome awaitReadBack(SealedDirectory directory) {
        long end = System.nanoTime() + patience.toNanos();
        PackerOutcome now = readBackOrBegin(directory);
        while (now instanceof PackerOutcome.Running
                && System.nanoTime() - end < 0
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(PAUSE.toNanos());
            now = readBackOrBegin(directory);
        }
        return now;
    }

    private PackerOutcome readBackOrBegin(SealedDirectory directory) {
        return packers.check(directory.place().target()).orElseGet(() -> readBack(directory));
    }

    /// Starts the check once nobody can write the image any more. A separate process reads it, because the packer
    /// may have written something else than its manifest says.
    private PackerOutcome readBack(SealedDirectory directory) {
        if (!packers.end(directory.place())) {
            return new PackerOutcome.Running("its packer is being stopped");
        }
        // the manifest that was read while somebody could still write it is not trusted
        return directory
                .image()
                .map(image -> packers.beginCheck(directory.place().target(), image.digest(), false))
                .orElseGet(() -> new PackerOutcome.Running("its manifest is gone"));
    }

    private void report(SnapshotId id, SnapshotRequest object, Notice notice) {
        if (!notice.message().equals(told.put(id, notice.message()))) {
            cluster.report(object, notice);
        }
    }

    /// Refuses at once what would be refused at the end. Creates the directory last: it marks that all checks
    /// passed.
    private void begin(SnapshotView snapshot, SealedDirectory directory, Sealing sealing) {
        DatasetPlace place = directory.place();
        String name = name(snapshots.owner(place.snapshot()), sealing);
        var _ = declared(place, name, new SealedImage(Digest.of(ByteBuffer.allocate(0)), 0), Set.of());
        if (datasets.find(name)
                .filter(found -> !found.path().equals(place.path()))
                .isPresent()) {
            throw new DriverException.IncompatibleExisting(
                    "there is another dataset " + name + ": give the VolumeSnapshot another name");
        }
        snapshots.reserveImage(snapshot);
        directory.make(name, sealing.object());
    }

    /// Returns the dataset's name, `ACCOUNT.SNAPSHOT`. The snapshot's name may not contain a dot: otherwise account
    /// `a.b` with `c` would collide with `a` and `b.c`.
    private static String name(String account, Sealing sealing) {
        if (sealing.object().name().contains(".")) {
            throw new DriverException.InUse("a dataset's name is its account, a dot and the VolumeSnapshot's name: "
                    + "give the VolumeSnapshot a name without dots");
        }
        try {
            String owner = account.startsWith(AccountDirectory.GROUP)
                    ? account.substring(AccountDirectory.GROUP.length())
                    : account;
            return Dataset.name(
                    "the dataset's name", owner + "." + sealing.object().name());
        } catch (DriverException.InvalidRequest cannotBe) {
            throw new DriverException.InUse(cannotBe.getMessage());
        }
    }

    private static Dataset declared(DatasetPlace place, String name, SealedImage image, Set<String> readers) {
        try {
            return new Dataset(
                    name,
                    Optional.of(place.cluster()),
                    place.fileSystem(),
                    place.path(),
                    image.digest(),
                    image.bytes(),
                    readers);
        } catch (DriverException.InvalidRequest tooLong) {
            throw new DriverException.InUse("a dataset cannot be declared in file system " + place.fileSystem()
                    + " of cluster " + place.cluster() + ", whose names are part of ids: " + tooLong.getMessage());
        }
    }

    /// Writes the note on the directory last: it marks that sealing is complete.
    private String finish(SealedDirectory directory, Sealing sealing, SealedImage image) {
        DatasetPlace place = directory.place();
        String owner = snapshots.owner(place.snapshot());
        String name = name(owner, sealing);
        directory.settle(name, sealing.object());
        cluster.declare(declared(place, name, image, Set.of(owner)));
        cluster.readBacks().note(name, ReadBack.DONE);
        snapshots.countImage(place.snapshot(), image.bytes());
        boolean _ = packers.removeCheck(place.target()); // it ended
        directory.seal(image);
        return name;
    }

    @Override
    public Optional<String> shownBy(VolumeRequest request) {
        boolean copied = !request.parameters().snapshotBacked().orElse(true);
        if (!request.readOnly() || copied || request.parameters().home()) {
            return Optional.empty();
        }
        return request.source()
                .filter(ContentSource.FromSnapshot.class::isInstance)
                .map(ContentSource.FromSnapshot.class::cast)
                .flatMap(from -> DatasetPlace.of(from.snapshot()))
                .map(this::dataset);
    }

    private String dataset(DatasetPlace place) {
        SnapshotView found = snapshots
                .find(place.snapshot())
                .orElseThrow(() -> new DriverException.NotFound("snapshot " + place.snapshot() + " does not exist"));
        SealedDirectory directory = new SealedDirectory(files, place);
        if (!found.ready() && !wasSealed(directory)) {
            String how = cluster.find(place.packer())
                    .or(() -> packers.check(place.target()))
                    .filter(PackerOutcome.Running.class::isInstance)
                    .map(running -> ": " + ((PackerOutcome.Running) running).progress())
                    .orElse("");
            throw new DriverException.OperationPending(
                    "snapshot " + place.snapshot() + " is not sealed yet" + how + "; retry");
        }
        String name = directory.dataset().orElseThrow();
        if (datasets.find(name).filter(set -> set.path().equals(place.path())).isEmpty()) {
            throw new DriverException.InUse("snapshot " + place.snapshot() + " was dataset " + name
                    + ", which was deleted: declare it again, or ask for a volume that can be written");
        }
        return name;
    }

    /// Deletes a snapshot, its image and everything that was created for it. Succeeds if nothing is there (CSI
    /// v1.13, DeleteSnapshot).
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if volumes or pods show the dataset; nothing is deleted
    ///     then
    /// @throws DriverException.OperationPending (ABORTED) while its packer is being stopped, or a volume is being
    ///     filled from it
    public void delete(SnapshotId id) {
        DatasetPlace place = new DatasetPlace(id);
        operations.run(key(place.path()), () -> {
            snapshots.checkNotCloned(id);
            SealedDirectory directory = new SealedDirectory(files, place);
            Optional<String> name = directory.dataset();
            name.ifPresent(it -> directory.image().ifPresent(image -> end(directory, it, image)));
            if ((name.isPresent() || place.isBegun(files)) && !packers.remove(place)) {
                throw new DriverException.OperationPending("the packer of snapshot " + id + " is being stopped; retry");
            }
            directory.remove();
            place.end(files);
            snapshots.delete(id);
            told.remove(id);
        });
    }

    /// Withdraws the dataset. Reports the reason of a refusal, because the snapshotter only reports that it was
    /// refused.
    private void end(SealedDirectory directory, String name, SealedImage image) {
        DatasetPlace place = directory.place();
        try {
            keys.end(image.volume(place), name, () -> cluster.withdraw(name, place.path()));
        } catch (DriverException.InUse used) {
            directory
                    .asked()
                    .ifPresent(object ->
                            report(place.snapshot(), object, new Notice(true, "DatasetInUse", used.getMessage())));
            throw used;
        }
    }

    /// Returns the background check of images that were sealed by a version without checks.
    public UnverifiedImages earlierImages(PrometheusRegistry metrics) {
        return new UnverifiedImages(new UnverifiedImages.Parts(clusters, files, cluster, packers, operations), metrics);
    }

    /// Returns the key of the lock for operations on an image.
    static String key(String path) {
        return "sealing of " + path;
    }
}
