package dev.siphon.controller.seal;

import dev.siphon.controller.dataset.DatasetCatalog;
import dev.siphon.controller.dataset.DatasetVolumes;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.key.ClientSessions;
import dev.siphon.controller.key.Identities;
import dev.siphon.controller.seal.SealingCluster.Notice;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.Clusters;
import dev.siphon.controller.volume.ContentSource;
import dev.siphon.controller.volume.ControllerDomain;
import dev.siphon.controller.volume.DatasetPlace;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.SnapshotClass.Sealing;
import dev.siphon.controller.volume.SnapshotClass.SnapshotRequest;
import dev.siphon.controller.volume.SnapshotView;
import dev.siphon.controller.volume.Snapshots;
import dev.siphon.controller.volume.VolumeRequest;
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

/// Snapshots of a class with `kind: dataset`. Each call does what is to be done now and returns; whoever wants
/// one asks again until it is ready. There is no journal: the directory of the image, the packer and the Dataset
/// say how far it is, and all their names are functions of the snapshot's id.
public final class SealedSnapshots {
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

    /// What was said last of those that are not ready yet.
    private final Map<SnapshotId, String> told = new ConcurrentHashMap<>();

    /// What it needs of others.
    ///
    /// @param keys those of readers
    /// @param identities makes those of packers
    /// @param sessions ends what packers have mounted
    /// @param patience of one call for an image to be read back
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

    /// Takes a snapshot, or finds the one that an earlier try took, and does what is next for its image (CSI
    /// v1.13, CreateSnapshot). The first answer comes before anything of the image is begun: whoever is refused
    /// later on knows the snapshot's id, and can delete it.
    ///
    /// @throws DriverException.IncompatibleExisting (ALREADY_EXISTS) if the dataset's name is taken
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if snapshot and image do not fit the account's
    ///     allowance
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the packer has failed, or none can be run
    /// @throws DriverException whatever [Snapshots#create] throws
    public SnapshotView create(VolumeId source, String name, Sealing sealing) {
        SnapshotId id = Snapshots.toSeal(source, name, sealing.modes());
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

    /// Whether another controller has sealed it, of a version that leaves the note that it is not: then the
    /// Dataset is declared, which no packer can do, with what is noted.
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

    /// @return whether nothing is left to be done
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

    /// @return how far it is
    private String pack(DatasetPlace place, Sealing sealing) {
        return switch (packers.continuePacking(place, sealing.modes())) {
            case PackerOutcome.Running(var how) -> how;
            case PackerOutcome.Queued(var how) -> how;
            case PackerOutcome.Ended _ -> "its packer has ended";
            case PackerOutcome.Failed failed ->
                throw new DriverException.InUse(
                        "the packer of snapshot " + place.snapshot() + " has failed: " + failed.why()
                                + "; when that is mended, delete Job " + place.packer()
                                + " to go on, or delete this VolumeSnapshot and take another one");
        };
    }

    /// The steps from the packer's end to that of a short check take seconds, and a snapshotter that has asked some
    /// times asks every 30 s alone.
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

    /// Whoever has packed an image may have written something else than what it says: another process reads it,
    /// once nobody can write it any more.
    private PackerOutcome readBack(SealedDirectory directory) {
        if (!packers.end(directory.place())) {
            return new PackerOutcome.Running("its packer is being stopped");
        }
        // what the manifest said while somebody could still write it counts for nothing
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

    /// What would be refused at the end is refused now. The directory comes last: it says that all of this was
    /// done.
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

    /// The last dot is between the two, so that no account's is another's: `a.b` of one and `c`, `a` and `b.c`.
    private static String name(String account, Sealing sealing) {
        if (sealing.object().name().contains(".")) {
            throw new DriverException.InUse("a dataset is called by its account, a dot and the VolumeSnapshot's name: "
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

    /// The note on the directory comes last: it says that nothing is left to be done.
    private String finish(SealedDirectory directory, Sealing sealing, SealedImage image) {
        DatasetPlace place = directory.place();
        String owner = snapshots.owner(place.snapshot());
        String name = name(owner, sealing);
        directory.settle(name, sealing.object());
        cluster.declare(declared(place, name, image, Set.of(owner)));
        cluster.readBacks().note(name, ReadBack.DONE);
        snapshots.countImage(place.snapshot(), image.bytes());
        boolean _ = packers.removeCheck(place.target()); // it has ended
        directory.seal(image);
        return name;
    }

    /// The dataset that a request asks for by its source; empty if that is no sealed snapshot, or is to be
    /// written or copied.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the snapshot is gone
    /// @throws DriverException.OperationPending (ABORTED) if it is not sealed yet, with how far it is
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if somebody has deleted its Dataset
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
                    + ", and somebody has deleted that: declare it again, or ask for a volume that can be written");
        }
        return name;
    }

    /// Removes a snapshot with its image and all that was made for it; what is not there is no error (CSI v1.13,
    /// DeleteSnapshot).
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if volumes or pods show the dataset; nothing is
    ///     removed then
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

    /// A snapshotter tells people that it is refused, and not why.
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

    /// Has the images read back that were sealed before that was done.
    public UnverifiedImages earlierImages(PrometheusRegistry metrics) {
        return new UnverifiedImages(new UnverifiedImages.Parts(clusters, files, cluster, packers, operations), metrics);
    }

    /// What is done about an image is done under this key.
    static String key(String path) {
        return "sealing of " + path;
    }
}
