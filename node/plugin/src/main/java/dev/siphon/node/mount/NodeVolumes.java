package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.KeyedOperations;
import dev.siphon.csi.Monitors;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.mount.MountCheck.MountHealth;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/// The volumes of this node: CSI's node service without its protocol.
///
/// A change locks its volume and its path (ABORTED for others) until its last system call returns, even after its
/// caller's deadline. Checks take no lock. Every method is idempotent.
public final class NodeVolumes implements PinnedImages {
    private static final String HELD = "the image of ";

    private final KeyedOperations keys = new KeyedOperations();
    private final RecentFailures failures = new RecentFailures();
    private final BlockingCalls calls;
    private final MountedDatasets datasets;
    private final Mounters mounters;
    private final MountCheck check;
    private final ClientRoots roots;
    private final ImageClientMounts images;
    private final VolumeStager stager;
    private final VolumePublisher publisher;
    private final Duration mountLimit;

    /// Time limits for calls to file systems.
    ///
    /// @param look for a health check; a slower mount counts as hung
    /// @param mount for a client to come up, or to write its data at the end
    public record Limits(Duration look, Duration mount) {}

    /// @param stateDirectory the driver's own; holds nothing that a restart would miss
    /// @param opened the datasets that may be shown while Ceph does not answer
    public NodeVolumes(
            Path stateDirectory,
            Mounters mounters,
            MountedDatasets datasets,
            OpenedDatasets opened,
            BlockingCalls calls,
            Limits limits) {
        this.calls = calls;
        this.datasets = datasets;
        this.mounters = mounters;
        this.mountLimit = limits.mount();
        this.roots = new ClientRoots(stateDirectory, "mounts");
        this.check = new MountCheck(calls, limits.look(), roots);
        HostPaths paths = new HostPaths(stateDirectory, mounters);
        VolumeMounts mounts = new VolumeMounts(mounters, check, paths, roots);
        this.images = new ImageClientMounts(stateDirectory.resolve("images"), mounts, datasets, roots, opened, calls);
        this.stager = new VolumeStager(mounters, mounts, roots, paths, images);
        this.publisher = new VolumePublisher(mounts, stager, paths, images);
    }

    /// Removes what a killed process left.
    public void recover() {
        roots.sweep();
        images.sweep(mountLimit);
    }

    /// CSI v1.13, NodeStageVolume.
    ///
    /// @param remaining how long the caller waits; the work continues after that
    public void stage(StageRequest request, Duration remaining) {
        var _ = change(
                request.volume(),
                request.staging(),
                remaining,
                () -> failures.noting(
                        request.volume(),
                        () -> stager.stageOrShowReplica(
                                request.at(seen(request.volume(), request.staging())), mountLimit)));
    }

    /// CSI v1.13, NodeUnstageVolume.
    public void unstage(VolumeId volume, TargetPath path, Duration remaining) {
        change(volume, path, remaining, () -> stager.unstage(volume, path, mountLimit));
        failures.forget(volume);
    }

    /// CSI v1.13, NodePublishVolume.
    ///
    /// @return for a dataset that was not published before: the cache directories of which one holds or will hold
    ///     the replica that is read; empty if that does not matter
    public List<Path> publish(PublishRequest request, Duration remaining) {
        return change(
                request.volume(),
                request.target(),
                remaining,
                () -> failures.noting(
                        request.volume(),
                        () -> publisher.publish(
                                request.stagedAt(seen(request.volume(), request.staging())), mountLimit)));
    }

    /// CSI v1.13, NodePublishVolume of an ephemeral volume, which NodeStageVolume does not precede.
    ///
    /// @param request its staging path is the target path
    /// @param caches as in [PublishRequest]
    /// @return as [#publish]
    public List<Path> publishUnstaged(StageRequest request, CachePreference caches, Duration remaining) {
        return change(
                request.volume(),
                request.staging(),
                remaining,
                () -> failures.noting(request.volume(), () -> stager.stage(request, caches, mountLimit)));
    }

    /// Does the same while Ceph or the controller does not answer, without credentials: shows a replica. The caller has
    /// checked that the pod may read the dataset.
    ///
    /// @param away why there are no credentials
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if Ceph has not opened the dataset on this node
    ///     lately ([OpenedDatasets]), or there is no verified replica
    public List<Path> publishReplica(
            VolumeId.DatasetVolume volume,
            TargetPath target,
            ClientOptions options,
            CachePreference caches,
            Duration remaining,
            DriverException away) {
        return change(
                volume,
                target,
                remaining,
                () -> failures.noting(
                        volume, () -> stager.stageReplica(volume, target, options, caches, mountLimit, away)));
    }

    /// Mounts the image of a dataset that [#publishReplica] has shown, for the time when its replica fails. Idempotent.
    ///
    /// @param dataset the dataset, without a claim
    public void reopen(
            VolumeId.DatasetVolume dataset, VolumeContext context, CephCredentials credentials, Duration remaining) {
        keys.run(
                HELD + dataset,
                () -> calls.change(
                        dataset.toString(), remaining, () -> stager.reopen(dataset, context, credentials, mountLimit)));
    }

    /// CSI v1.13, NodeUnpublishVolume.
    public void unpublish(VolumeId volume, TargetPath target, Duration remaining) {
        change(volume, target, remaining, () -> publisher.unpublish(volume, target, mountLimit));
    }

    /// CSI v1.13, NodeUnpublishVolume of an ephemeral volume, which NodeUnstageVolume does not follow.
    public void unpublishUnstaged(VolumeId.DatasetVolume volume, TargetPath target, Duration remaining) {
        unpublish(volume, target, remaining);
        failures.forget(volume);
    }

    /// Mounts a dataset's image and starts to make a replica of it before any volume shows it. The image stays
    /// mounted until [#unpin].
    ///
    /// @param dataset the dataset, without a claim
    /// @param holder as in [PinnedImages]
    /// @return its digest
    /// @throws DriverException as NodeStageVolume
    @Override
    public Digest pin(
            VolumeId.DatasetVolume dataset,
            Object holder,
            VolumeContext context,
            CephCredentials credentials,
            Duration remaining) {
        return keys.run(
                HELD + dataset,
                () -> calls.change(
                        dataset.toString(),
                        remaining,
                        () -> stager.hold(dataset, holder, context, credentials, mountLimit)));
    }

    /// Undoes [#pin]: unmounts the image unless a volume shows it. Idempotent.
    @Override
    public void unpin(VolumeId.DatasetVolume dataset, Object holder, Duration remaining) {
        keys.run(
                HELD + dataset,
                () -> calls.change(dataset.toString(), remaining, () -> stager.unpin(dataset, holder, mountLimit)));
    }

    /// Whether a volume is mounted at `target` and responds.
    public boolean isShown(VolumeId volume, TargetPath target, Duration remaining) {
        Optional<MountEntry> there = MountTable.read().at(target.text()).filter(found -> isOf(volume, found));
        return there.isPresent() && check.check(volume, there.get(), remaining) instanceof MountHealth.Alive;
    }

    /// Returns what the dataset at `target` is read from; empty if it shows none.
    public Optional<MountedDatasets.Source> source(TargetPath target) {
        return MountTable.read().at(target.text()).flatMap(datasets::source);
    }

    /// Returns why reading at `target` is slower than it could be on this node; empty if it is not.
    public Optional<String> slowness(TargetPath target) {
        return MountTable.read().at(target.text()).flatMap(datasets::slowness);
    }

    /// Returns where the volume staged at `path` is mounted. An earlier version mounted every volume at the path
    /// itself.
    private TargetPath seen(VolumeId volume, TargetPath path) {
        return MountTable.read()
                        .at(path.text())
                        .filter(found -> isOf(volume, found))
                        .isPresent()
                ? path
                : path.staged(volume);
    }

    private void change(VolumeId volume, TargetPath path, Duration remaining, Runnable body) {
        change(volume, path, remaining, () -> {
            body.run();
            return volume;
        });
    }

    private <T> T change(VolumeId volume, TargetPath path, Duration remaining, Supplier<T> body) {
        return keys.run(
                "volume " + volume,
                () -> keys.run("path " + path.text(), () -> calls.change(volume.toString(), remaining, body)));
    }

    /// Returns how full `volume` is, at its mount for `path`.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if it is not mounted there
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the mount is dead or hung
    public VolumeUsage usage(VolumeId volume, TargetPath path, Duration remaining) {
        MountEntry entry = MountTable.read()
                .at(seen(volume, path).text())
                .filter(found -> isOf(volume, found))
                .orElseThrow(() -> new DriverException.NotFound("volume " + volume + " is not mounted at " + path));
        return check.usage(volume, entry, remaining);
    }

    /// Returns the problems of `volume` that this node knows.
    ///
    /// @param expected the paths at which the caller expects it to be mounted
    /// @throws DriverException.NotFound (NOT_FOUND) if it is not mounted here and has no recent failure here
    public List<VolumeProblem> problems(VolumeId volume, List<TargetPath> expected, Duration remaining) {
        List<MountEntry> mounts = MountTable.read().entries().stream()
                .filter(entry -> isOf(volume, entry))
                .toList();
        Optional<String> failure = failures.of(volume);
        if (mounts.isEmpty() && failure.isEmpty()) {
            throw new DriverException.NotFound("volume " + volume + " is not mounted on this node");
        }
        List<VolumeProblem> problems = new ArrayList<>();
        failure.ifPresent(why -> problems.add(VolumeProblem.inaccessible("MountFailed", why)));
        if (volume instanceof VolumeId.DatasetVolume dataset) {
            datasets.problem(dataset.digest()).map(VolumeProblem::unreplicated).ifPresent(problems::add);
        }
        Set<String> devices = new HashSet<>();
        Duration each = remaining.dividedBy(Math.max(1, mounts.size()));
        for (MountEntry mount : mounts) {
            if (devices.add(mount.device())) {
                describe(volume, check.check(volume, mount, each)).ifPresent(problems::add);
            }
        }
        Set<String> places =
                new HashSet<>(mounts.stream().map(MountEntry::mountPoint).toList());
        expected.stream()
                .filter(path -> !places.contains(seen(volume, path).text()))
                .findFirst()
                .ifPresent(path -> problems.add(
                        VolumeProblem.inaccessible("NotMounted", "volume " + volume + " is not mounted at " + path)));
        // CSI allows each reason at most once
        return List.copyOf(problems.stream()
                .collect(Collectors.toMap(VolumeProblem::reason, p -> p, (first, _) -> first, LinkedHashMap::new))
                .values());
    }

    private static Optional<VolumeProblem> describe(VolumeId volume, MountHealth health) {
        return switch (health) {
            case MountHealth.Alive _ -> Optional.empty();
            case MountHealth.Dead dead -> Optional.of(VolumeProblem.inaccessible("MountDead", dead.describe(volume)));
            case MountHealth.Hung hung ->
                Optional.of(VolumeProblem.inaccessible("MountNotResponding", hung.describe(volume)));
        };
    }

    /// Returns the monitors of every cluster that has a volume mounted here.
    public Set<Monitors> clusters() {
        Set<Monitors> clusters = new HashSet<>();
        for (MountEntry entry : MountTable.read().entries()) {
            if (mounters.recognize(entry).map(Mounters.Recognized::volume).orElse(null)
                    instanceof MountedVolume.OfClient client) {
                clusters.add(client.monitors());
            }
        }
        return clusters;
    }

    private boolean isOf(VolumeId volume, MountEntry entry) {
        return mounters.recognize(entry).filter(mount -> mount.is(volume)).isPresent();
    }
}
