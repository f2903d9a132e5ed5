package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.AccountUsage.QuotaItem;
import dev.siphon.controller.volume.FileTree.Copy;
import dev.siphon.controller.volume.SubvolumeInventory.KnownSubvolume;
import dev.siphon.controller.volume.Subvolumes.CloneProgress;
import dev.siphon.controller.volume.Subvolumes.Snapshot;
import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Fills a new volume with the contents of a snapshot: by a Ceph clone if that gives the right result, else by a
/// copy. A clone keeps the source's RADOS namespace, uid and pool, so it is right only within one account and pool.
final class VolumePopulator {
    /// The interval at which a clone's progress is polled; a small clone takes half a second.
    private static final Duration POLL = Duration.ofMillis(250);

    /// The limit of concurrent clones per file system. The mgr runs that many at once
    /// (`mgr/volumes/max_concurrent_clones`), and from Ceph 20 on refuses more.
    private static final int CLONES_AT_ONCE = 4;

    /// The limit of clones per account, running or waiting: a provisioner has 32 workers for the claims of all
    /// accounts.
    static final int CLONES_OF_AN_ACCOUNT = 8;

    /// The part of the caller's time that is kept for finishing and replying.
    private static final Duration RESERVE = Duration.ofSeconds(2);

    private final Subvolumes subvolumes;
    private final FileTree files;
    private final SubvolumeInventory inventory;
    private final AllowanceLedger ledger;
    private final KeyMinting keys;
    private final Supplier<Duration> timeLeft;
    private final Map<VolumeId.Provisioned, RunningCopy> copies = new ConcurrentHashMap<>();

    /// The snapshots of clones that were awaited since the start and may not be released yet, by target.
    private final Map<VolumeId.Provisioned, SnapshotId> clones = new ConcurrentHashMap<>();

    private final Map<String, Semaphore> cloning = new ConcurrentHashMap<>();

    /// How many calls clone into a group, or wait to do so.
    private final Map<SubvolumeGroup, Integer> cloners = new ConcurrentHashMap<>();

    /// A copy and its source.
    private record RunningCopy(SnapshotId source, Copy copy) {}

    VolumePopulator(
            CephPorts ports,
            SubvolumeInventory inventory,
            AllowanceLedger ledger,
            KeyMinting keys,
            Supplier<Duration> timeLeft) {
        this.ledger = ledger;
        this.keys = keys;
        this.subvolumes = ports.subvolumes();
        this.files = ports.files();
        this.inventory = inventory;
        this.timeLeft = timeLeft;
    }

    /// The snapshot to fill from.
    ///
    /// @param volume the snapshot's volume as it is now; empty if it is gone
    /// @param sizeBytes the size of the snapshot's volume
    record Origin(SnapshotId snapshot, String dataPool, Optional<Subvolume> volume, OptionalLong sizeBytes) {}

    /// Finds the source and changes nothing; the snapshot of a source volume is taken later
    /// ([#takeTransferSnapshot]).
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the source does not exist
    Origin origin(ContentSource source, VolumeId.Provisioned target) {
        VolumeId.Provisioned of = source.volume();
        Optional<Subvolume> volume = subvolumes.find(of).filter(found -> found.state() == Subvolume.State.READY);
        return switch (source) {
            case ContentSource.FromSnapshot from -> {
                Snapshot found = subvolumes
                        .findSnapshot(from.snapshot())
                        .orElseThrow(() -> new DriverException.NotFound(source + " does not exist"));
                yield new Origin(from.snapshot(), found.dataPool(), volume, sizeOf(from.snapshot()));
            }
            case ContentSource.FromVolume _ -> {
                Subvolume found = volume.orElseThrow(() -> new DriverException.NotFound(source + " does not exist"));
                SnapshotId snapshot = new SnapshotId(of, CephNames.transferSnapshot(target.subvolume()));
                yield new Origin(snapshot, found.dataPool(), volume, found.quotaBytes());
            }
        };
    }

    /// Returns the size that the snapshot's volume had, from the quota inside the snapshot.
    OptionalLong sizeOf(SnapshotId snapshot) {
        VolumeId.Provisioned volume = snapshot.volume();
        return files.quotaBytes(volume.cluster(), volume.fileSystem(), dataDirectory(snapshot));
    }

    /// Returns when the snapshot was taken. Asks the file system, because the mgr omits the time zone.
    Instant takenAt(SnapshotId snapshot) {
        VolumeId.Provisioned volume = snapshot.volume();
        return files.takenAt(volume.cluster(), volume.fileSystem(), directory(snapshot));
    }

    private String dataDirectory(SnapshotId snapshot) {
        VolumeId.Provisioned volume = snapshot.volume();
        return files.dataDirectory(volume.cluster(), volume.fileSystem(), directory(snapshot));
    }

    private static String directory(SnapshotId snapshot) {
        VolumeId.Provisioned volume = snapshot.volume();
        return SubvolumeGroup.pathOf(volume) + "/.snap/" + snapshot.name();
    }

    /// Takes the transfer snapshot of a source volume. A source snapshot needs no protection: the mgr refuses to
    /// remove it during a clone, and [#reads] shows whether a copy runs. Idempotent.
    void takeTransferSnapshot(ContentSource source, Origin origin) {
        if (source instanceof ContentSource.FromVolume) {
            subvolumes.createSnapshot(origin.snapshot());
        }
    }

    /// Returns whether a copy of the snapshot runs.
    boolean reads(SnapshotId snapshot) {
        return copies.values().stream().anyMatch(running -> running.source().equals(snapshot));
    }

    /// Returns whether a Ceph clone gives what was requested: the same group, pool and owner. If the source volume
    /// is gone, the account is assumed to have owned it.
    boolean canClone(Origin origin, VolumeId.Provisioned target, VolumeClass parameters, Account owner) {
        return SubvolumeGroup.of(origin.snapshot().volume()).equals(SubvolumeGroup.of(target))
                && parameters
                        .dataPool()
                        .filter(pool -> !pool.equals(origin.dataPool()))
                        .isEmpty()
                && origin.volume()
                        .map(volume -> volume.uid() == owner.uid() && volume.gid() == owner.gid())
                        .orElse(parameters.uid().isEmpty() && parameters.gid().isEmpty());
    }

    /// Clones as soon as few enough others do, and waits for the end.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if it has not ended by the caller's deadline; at once if
    ///     [#CLONES_OF_AN_ACCOUNT] others of the account run or wait
    void cloneInto(VolumeId.Provisioned target, Origin origin, Optional<Subvolume> existing, long size) {
        SubvolumeGroup group = SubvolumeGroup.of(target);
        cloners.compute(group, (_, others) -> {
            int before = others == null ? 0 : others;
            if (before == CLONES_OF_AN_ACCOUNT) {
                throw new DriverException.OperationPending("the clone into " + target + " waits for "
                        + CLONES_OF_AN_ACCOUNT + " others of its account; retry when one has ended");
            }
            return before + 1;
        });
        try {
            cloneInTurn(target, origin, existing, size);
        } finally {
            cloners.computeIfPresent(group, (_, all) -> all > 1 ? all - 1 : null);
        }
    }

    private void cloneInTurn(VolumeId.Provisioned target, Origin origin, Optional<Subvolume> existing, long size) {
        Semaphore turn = cloning.computeIfAbsent(
                target.cluster() + "/" + target.fileSystem(), _ -> new Semaphore(CLONES_AT_ONCE, true));
        await(turn, target);
        try {
            cloneNow(target, origin, existing, size);
        } finally {
            turn.release();
        }
    }

    private void await(Semaphore turn, VolumeId.Provisioned target) {
        try {
            Duration patience = timeLeft.get().minus(RESERVE);
            if (!turn.tryAcquire(Math.max(0, patience.toNanos()), TimeUnit.NANOSECONDS)) {
                throw new DriverException.OperationPending("the clone into " + target + " waits for " + CLONES_AT_ONCE
                        + " others in file system " + target.fileSystem() + "; retry");
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("the driver is stopping; retry");
        }
    }

    private void cloneNow(VolumeId.Provisioned target, Origin origin, Optional<Subvolume> existing, long size) {
        if (existing.isEmpty()) {
            inventory.note(target, new KnownSubvolume.Unsure());
            subvolumes.startClone(origin.snapshot(), target);
        }
        clones.put(target, origin.snapshot());
        awaitClone(target);
        awaitLetGo(target, origin.snapshot());
        clones.remove(target);
        subvolumes.resize(target, size);
    }

    /// Waits until the mgr has released the snapshot, which happens after it reports the clone's end. If the target
    /// is removed in between, the mgr searches for it forever, and the snapshot can never be removed (seen on Ceph
    /// 20.2.4).
    private void awaitLetGo(VolumeId.Provisioned target, SnapshotId snapshot) {
        while (subvolumes
                .findSnapshot(snapshot)
                .filter(found -> found.pendingClones().contains(target.subvolume()))
                .isPresent()) {
            pause("the clone into " + target + " is being finished; retry");
        }
    }

    /// @param unfinished the error message when the caller's time is over
    private void pause(String unfinished) {
        if (timeLeft.get().compareTo(RESERVE) < 0) {
            throw new DriverException.OperationPending(unfinished);
        }
        LockSupport.parkNanos(POLL.toNanos());
        if (Thread.currentThread().isInterrupted()) {
            throw new DriverException.BackendUnavailable("the driver is stopping; retry");
        }
    }

    private void awaitClone(VolumeId.Provisioned target) {
        while (true) {
            CloneProgress progress = subvolumes
                    .cloneProgress(target)
                    .orElseThrow(() -> new DriverException.BackendUnavailable(
                            "the clone into " + target + " no longer exists; retry"));
            switch (progress.stage()) {
                case COMPLETE -> {
                    return;
                }
                case FAILED, CANCELLED -> {
                    remove(target);
                    throw new DriverException.BackendUnavailable("the clone into " + target + " ended: "
                            + progress.progress() + "; its partial volume was removed; retry");
                }
                case RUNNING -> pause("the clone into " + target + " is " + progress.progress() + " done; retry");
            }
        }
    }

    /// Copies, and waits for the end. The copy continues after the caller has left, and a retry waits for it again.
    ///
    /// @throws DriverException.OperationPending (ABORTED) if it has not ended by the caller's deadline
    void copyInto(VolumeId.Provisioned target, Origin origin, Subvolume made, Account owner) {
        RunningCopy running = copies.computeIfAbsent(target, _ -> start(target, origin, made, owner));
        Copy copy = running.copy();
        try {
            copy.done().get(Math.max(0, timeLeft.get().minus(RESERVE).toMillis()), TimeUnit.MILLISECONDS);
            copies.remove(target, running);
        } catch (TimeoutException stillRuns) {
            throw new DriverException.OperationPending("the copy into " + target + " has done " + copy.copiedBytes()
                    + " bytes and " + copy.copiedEntries() + " entries; retry");
        } catch (ExecutionException | CancellationException ended) {
            copies.remove(target, running);
            throw ended.getCause() instanceof DriverException known
                    ? known
                    : new DriverException.BackendFault("the copy into " + target + " failed", ended);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new DriverException.BackendUnavailable("the driver is stopping; retry");
        }
    }

    private RunningCopy start(VolumeId.Provisioned target, Origin origin, Subvolume made, Account owner) {
        Copy copy = files.copy(
                target.cluster(),
                target.fileSystem(),
                dataDirectory(origin.snapshot()),
                made.dataPath().orElseThrow(),
                owner.uid(),
                owner.gid());
        return new RunningCopy(origin.snapshot(), copy);
    }

    /// Removes the transfer snapshot of a source volume. Idempotent.
    void release(ContentSource source, VolumeId.Provisioned target) {
        if (source instanceof ContentSource.FromVolume from) {
            subvolumes.removeSnapshot(new SnapshotId(from.volume(), CephNames.transferSnapshot(target.subvolume())));
        }
    }

    /// Removes a volume, or what is left of it, with its key and its transfer snapshot. Stops a copy or clone into
    /// it first.
    void remove(VolumeId.Provisioned target) {
        Optional<ContentSource.FromVolume> source =
                CephNames.kindOf(target.subvolume()).equals(Optional.of(CephNames.Kind.FILLED))
                        ? claimedFrom(target)
                        : Optional.empty();
        Optional.ofNullable(copies.remove(target))
                .ifPresent(running -> running.copy().done().cancel(true));
        inventory.leaving(target);
        keys.leaving(target);
        Optional.ofNullable(clones.get(target)).ifPresent(snapshot -> {
            subvolumes.cancelClone(target);
            awaitLetGo(target, snapshot);
        });
        files.flatten(target);
        try {
            subvolumes.remove(target);
        } catch (DriverException.OperationPending cloneRuns) {
            subvolumes.cancelClone(target);
            files.flatten(target);
            subvolumes.remove(target);
        }
        clones.remove(target);
        source.ifPresent(from -> release(from, target));
        // a later volume of that name gets another directory, which the key would not open
        keys.removed(target);
        inventory.gone(target);
        ledger.free(SubvolumeGroup.of(target), QuotaItem.of(target));
    }

    /// Finds the volume that may have a transfer snapshot for `target`. The metadata of a complete target names it.
    /// Otherwise searches for the volume whose hash is in the target's name, first among the account's own.
    private Optional<ContentSource.FromVolume> claimedFrom(VolumeId.Provisioned target) {
        boolean whole = subvolumes
                .find(target)
                .filter(found -> found.state() == Subvolume.State.READY)
                .isPresent();
        Optional<String> note =
                whole ? Optional.ofNullable(subvolumes.notes(target).get(SubvolumeMetadata.SOURCE)) : Optional.empty();
        if (note.isPresent()) {
            return VolumeId.tryParse(note.get())
                    .filter(VolumeId.Provisioned.class::isInstance)
                    .map(VolumeId.Provisioned.class::cast)
                    .map(ContentSource.FromVolume::new);
        }
        SubvolumeGroup own = SubvolumeGroup.of(target);
        return Stream.concat(
                        Stream.of(own),
                        subvolumes.groups(own.cluster(), own.fileSystem()).stream()
                                .filter(name -> CephNames.isGroup(name) && !name.equals(own.name()))
                                .map(name -> new SubvolumeGroup(own.cluster(), own.fileSystem(), name)))
                .flatMap(group -> subvolumes.list(group).orElse(List.of()).stream()
                        .filter(name -> CephNames.kindOf(name).isPresent())
                        .map(name -> new ContentSource.FromVolume(group.volume(name))))
                .filter(from -> target.subvolume().endsWith(CephNames.filledSuffix(from)))
                .findFirst();
    }
}
