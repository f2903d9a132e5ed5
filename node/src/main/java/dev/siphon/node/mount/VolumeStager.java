package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Monitors;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Makes a volume ready on this node: its account's directory is mounted aside, and the volume's data directory
/// bound to the staging path. So the client's root is the account, whose quota it then enforces, while the
/// workload sees the volume alone. The bind keeps the client; the mount aside goes at once or with the last bind,
/// as the client needs.
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

    /// CSI v1.13, NodeStageVolume. A mount at the staging path that no longer answers is replaced.
    ///
    /// @param request where the volume is to be seen, see [TargetPath#staged]; that of a volume by hand is made
    /// @param limit for the client to come up
    void stage(StageRequest request, Duration limit) {
        var _ = stage(request, Optional.empty(), limit);
    }

    /// The same of a dataset that is not published afterwards, but shown to a pod where it is staged.
    ///
    /// @param nearest as of [ImageClientMounts#showNear]
    /// @return the same
    List<Path> stageForPod(StageRequest request, List<Path> nearest, Duration limit) {
        return stage(request, Optional.of(nearest), limit);
    }

    private List<Path> stage(StageRequest request, Optional<List<Path>> nearest, Duration limit) {
        request.checkPlace();
        ClientOptions options = request.options();
        roots.sweep();
        Optional<Mounters.Recognized> found = mounts.findAlive(request.volume(), request.staging());
        if (found.isPresent()) {
            if (!found.get().entry().flags().equals(options.flags())) {
                throw new DriverException.IncompatibleExisting(
                        "volume " + request.volume() + " is staged at " + request.staging() + " with other flags: "
                                + found.get().entry().flags() + ", not " + options.flags());
            }
            return List.of();
        }
        boolean isMade = request.volume() instanceof VolumeId.ByHand;
        boolean isMounted = false;
        try (DirectoryHandle target =
                isMade ? paths.makeEmpty(request.staging()) : paths.openEmpty(request.staging())) {
            List<Path> homes = mount(request, options, target, nearest, limit);
            isMounted = true;
            return homes;
        } finally {
            if (isMade && !isMounted) {
                paths.remove(request.staging()); // a kubelet does not expect it
            }
        }
    }

    /// Has a replica made of a dataset that no volume shows: its image is mounted until [#unpin].
    ///
    /// @param holder as of [PinnedImages]
    /// @param limit for the client to come up
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
            Optional<List<Path>> nearest,
            Duration limit) {
        Mounter mounter = mounters.selection()
                .choose(request.context().mounter(), request.credentials().key());
        ClientMount client = client(request.volume(), request.context(), request.credentials(), options);
        List<Path> homes = List.of();
        if (request.volume() instanceof VolumeId.DatasetVolume dataset) {
            homes = images.show(dataset, mounter, client, target, nearest, limit);
        } else {
            mountAside(request, mounter, client, target, limit);
        }
        LOG.atInfo()
                .addKeyValue("volume_id", request.volume())
                .addKeyValue("mounter", mounter.name())
                .addKeyValue("path", request.staging().text())
                .log("staged");
        return homes;
    }

    /// One mount of an image serves all volumes that show it.
    private static VolumeId mounted(VolumeId volume) {
        return volume instanceof VolumeId.DatasetVolume dataset ? dataset.forNobody() : volume;
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

    /// CSI v1.13, NodeUnstageVolume. The staging path itself is the caller's and stays.
    void unstage(VolumeId volume, TargetPath staging, Duration limit) {
        roots.sweep();
        TargetPath place = staging.staged(volume);
        // a version before this one showed it at the path itself: what is below that is then the volume's own
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
