package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Monitors;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.SystemErrors;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Makes a volume ready on this node. Mounts its account's directory at a root in the driver's own directory
/// ([ClientRoots]), and binds the volume's data directory to the staging path. So the client enforces the
/// account's quota, while the pod sees only the volume. The bind keeps the client alive. The root is unmounted at
/// once, or with the last bind if the client needs it.
final class VolumeStager {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeStager.class);

    private final Mounters mounters;
    private final VolumeMounts mounts;
    private final ClientRoots roots;
    private final HostPaths paths;
    private final ImageClientMounts images;

    VolumeStager(Mounters mounters, VolumeMounts mounts, ClientRoots roots, HostPaths paths, ImageClientMounts images) {
        this.mounters = mounters;
        this.mounts = mounts;
        this.roots = roots;
        this.paths = paths;
        this.images = images;
    }

    /// CSI v1.13, NodeStageVolume. Replaces a mount at the staging path that no longer responds.
    ///
    /// @param request holds the place to mount at, see [TargetPath#staged]; for a volume by hand, that directory is
    ///     created
    /// @param caches of a dataset: [CachePreference.PodUnknown] if NodePublishVolume follows
    /// @param limit the time for the client to come up
    /// @return as [ImageClientMounts#show]; empty if it was staged before
    List<Path> stage(StageRequest request, CachePreference caches, Duration limit) {
        request.checkPlace();
        ClientOptions options = request.options();
        return stage(
                request.volume(), request.staging(), options, target -> mount(request, options, target, caches, limit));
    }

    /// CSI v1.13, NodeStageVolume, as [#stage]. If Ceph does not answer, this shows a dataset's replica to whoever has
    /// the key that Ceph accepted last.
    List<Path> stageOrShowReplica(StageRequest request, Duration limit) {
        CachePreference.PodUnknown later = new CachePreference.PodUnknown();
        try {
            return stage(request, later, limit);
        } catch (DriverException.BackendUnavailable | DriverException.DeadlinePassed away) {
            if (request.volume() instanceof VolumeId.DatasetVolume dataset
                    && images.isOpened(dataset, request.credentials())) {
                return stageReplica(dataset, request.staging(), request.options(), later, limit, away);
            }
            throw away;
        }
    }

    /// Shows a dataset's replica at `place`, without a client.
    ///
    /// @param limit the time for the dataset's lock
    /// @param away as in [ImageClientMounts#showReplica]
    /// @return as [#stage]
    List<Path> stageReplica(
            VolumeId.DatasetVolume volume,
            TargetPath place,
            ClientOptions options,
            CachePreference caches,
            Duration limit,
            DriverException away) {
        return stage(
                volume, place, options, target -> images.showReplica(volume, options, target, caches, limit, away));
    }

    private List<Path> stage(
            VolumeId volume, TargetPath place, ClientOptions options, Function<DirectoryHandle, List<Path>> mount) {
        roots.sweep();
        Optional<Mounters.Recognized> found = mounts.findAlive(volume, place);
        if (found.isPresent()) {
            if (!found.get().entry().flags().equals(options.flags())) {
                throw new DriverException.IncompatibleExisting("volume " + volume + " is staged at " + place
                        + " with other flags: " + found.get().entry().flags() + ", not " + options.flags());
            }
            return List.of();
        }
        boolean isMade = volume instanceof VolumeId.WithPath;
        boolean isMounted = false;
        try (DirectoryHandle target = isMade ? paths.makeEmpty(place) : paths.openEmpty(place)) {
            List<Path> directories = mount.apply(target);
            isMounted = true;
            return directories;
        } finally {
            if (isMade && !isMounted) {
                paths.remove(place); // the kubelet does not expect it
            }
        }
    }

    /// Mounts the image of a dataset that [#stageReplica] has shown.
    void reopen(VolumeId.DatasetVolume dataset, VolumeContext context, CephCredentials credentials, Duration limit) {
        Mounter mounter = mounters.selection().choose(context.mounter(), credentials.key());
        ClientOptions options = ClientOptions.of(context.mountOptions(), true);
        images.reopen(dataset, mounter, client(dataset, context, credentials, options), limit);
    }

    /// Mounts the image of a dataset that no volume shows, and starts to make a replica of it. The image stays
    /// mounted until [#unpin].
    ///
    /// @param holder as in [PinnedImages]
    /// @param limit the time for the client to come up
    /// @return the dataset's digest
    Digest hold(
            VolumeId.DatasetVolume dataset,
            Object holder,
            VolumeContext context,
            CephCredentials credentials,
            Duration limit) {
        Mounter mounter = mounters.selection().choose(context.mounter(), credentials.key());
        ClientOptions options = ClientOptions.of(context.mountOptions(), true);
        return images.hold(dataset, holder, mounter, client(dataset, context, credentials, options), limit);
    }

    /// Undoes [#hold].
    void unpin(VolumeId.DatasetVolume dataset, Object holder, Duration limit) {
        images.unpin(dataset, holder, limit);
    }

    private static ClientMount client(
            VolumeId volume, VolumeContext context, CephCredentials credentials, ClientOptions options) {
        return new ClientMount(
                mounted(volume),
                Monitors.parse(String.join(",", context.monitors())),
                context.fileSystem(),
                context.mountPath(),
                credentials,
                options);
    }

    private List<Path> mount(
            StageRequest request,
            ClientOptions options,
            DirectoryHandle target,
            CachePreference caches,
            Duration limit) {
        Mounter mounter = mounters.selection()
                .choose(request.context().mounter(), request.credentials().key());
        ClientMount client = client(request.volume(), request.context(), request.credentials(), options);
        List<Path> directories = List.of();
        if (request.volume() instanceof VolumeId.DatasetVolume dataset) {
            directories = images.show(dataset, mounter, client, target, caches, limit);
        } else {
            mountAside(request, mounter, client, target, limit);
        }
        LOG.atInfo()
                .addKeyValue("volume_id", request.volume())
                .addKeyValue("mounter", mounter.name())
                .addKeyValue("path", request.staging().text())
                .log("staged");
        return directories;
    }

    /// Returns the id to mount with: one mount of an image serves all volumes that show it.
    private static VolumeId mounted(VolumeId volume) {
        return volume instanceof VolumeId.DatasetVolume dataset ? dataset.withoutClaim() : volume;
    }

    private void mountAside(
            StageRequest request, Mounter mounter, ClientMount client, DirectoryHandle target, Duration limit) {
        try (ClientRoots.Root aside = roots.create()) {
            mounter.mount(client, aside.path(), limit);
            bindData(request, client.options(), aside, target);
            if (!mounter.needsItsRoot()) {
                aside.detach();
            }
        }
    }

    private void bindData(StageRequest request, ClientOptions options, ClientRoots.Root aside, DirectoryHandle target) {
        try (DirectoryHandle mounted = DirectoryHandle.open(aside.path().toString())) {
            if (request.context().dataPath().isEmpty()) {
                mounts.bind(mounted, target, options.flags());
                return;
            }
            try (DirectoryHandle data = DataDirectory.open(
                    request.volume(), mounted, request.context().dataPath().get())) {
                mounts.bind(data, target, options.flags());
            }
        } catch (ErrnoException e) {
            throw SystemErrors.translate("binding volume " + request.volume() + " to " + request.staging(), e);
        }
    }

    /// CSI v1.13, NodeUnstageVolume. Keeps the staging path itself, which belongs to the CO.
    void unstage(VolumeId volume, TargetPath staging, Duration limit) {
        roots.sweep();
        TargetPath place = staging.staged(volume);
        // an earlier version mounted at the path itself; under another volume's mount, `place` is its data
        boolean isGone = mounts.unmountAll(volume, staging, limit);
        if (isGone && !place.equals(staging) && mounts.unmountAll(volume, place, limit)) {
            paths.remove(place);
        }
        if (volume instanceof VolumeId.DatasetVolume dataset) {
            images.sweep(dataset, limit);
        }
        images.sweep(limit);
    }
}
