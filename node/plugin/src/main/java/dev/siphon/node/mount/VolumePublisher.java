package dev.siphon.node.mount;

import dev.siphon.csi.ContainerUser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.DetachedMount;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountFlag;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.SystemErrors;
import dev.siphon.node.mount.MountCheck.MountHealth;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Publishes staged volumes to pods.
final class VolumePublisher {
    private final VolumeMounts mounts;
    private final VolumeStager stager;
    private final HostPaths paths;
    private final ImageClientMounts images;

    VolumePublisher(VolumeMounts mounts, VolumeStager stager, HostPaths paths, ImageClientMounts images) {
        this.mounts = mounts;
        this.stager = stager;
        this.paths = paths;
        this.images = images;
    }

    /// CSI v1.13, NodePublishVolume. Replaces a mount at the target path that no longer responds.
    ///
    /// @param limit the time for a client to come up, if the volume must be restaged
    /// @return for a dataset as [ImageClientMounts#show]; empty if it was published before
    List<Path> publish(PublishRequest request, Duration limit) {
        // read once: a node has hundreds of mounts, and nobody else changes those of this volume meanwhile
        MountTable table = MountTable.read();
        Mounters.Recognized staged = staged(request, table, limit);
        Set<MountFlag> flags = flags(request, staged);
        if (request.use().access().isAtOneTarget()) {
            checkNowhereElse(request, staged);
        }
        Optional<Mounters.Recognized> found = mounts.findAlive(table, request.volume(), request.target());
        Path path = Path.of(request.staging().text());
        if (found.isPresent()) {
            checkSame(request, staged, found.get().entry(), flags);
        } else if (request.volume() instanceof VolumeId.DatasetVolume dataset) {
            try (ImageClientMounts.Locked _ = images.lock(dataset, limit)) {
                MountedDatasets.Nearby shown = images.choose(dataset, request.caches(), path);
                bind(request, staged, table, shown.tree(), flags, limit);
                return shown.replicaDirectories();
            }
        } else {
            bind(request, staged, table, path, flags, limit);
        }
        return List.of();
    }

    private static void checkSame(
            PublishRequest request, Mounters.Recognized staged, MountEntry found, Set<MountFlag> flags) {
        try (DirectoryHandle source = DirectoryHandle.open(request.staging().text())) {
            Optional<Idmapping> owners = owners(request, staged, source);
            if (!found.flags().equals(flags)) {
                throw new DriverException.IncompatibleExisting("volume " + request.volume() + " is published at "
                        + request.target() + " with other flags: " + found.flags() + ", not " + flags);
            }
            try (DirectoryHandle target = DirectoryHandle.open(request.target().text())) {
                boolean same = owners.map(wanted -> wanted.isAt(found, target)).orElse(!found.isIdmapped());
                if (!same) {
                    throw new DriverException.IncompatibleExisting("volume " + request.volume() + " is published at "
                            + request.target() + " with another " + ContainerUser.KEY + ": its files are "
                            + target.owner() + "'s there");
                }
            }
        } catch (ErrnoException e) {
            throw failed(request, e);
        }
    }

    /// Binds `path`, the staging path or a tree of the dataset that is staged there, to the target.
    private void bind(
            PublishRequest request,
            Mounters.Recognized staged,
            MountTable table,
            Path path,
            Set<MountFlag> flags,
            Duration limit) {
        try (DirectoryHandle source = DirectoryHandle.open(path.toString())) {
            Optional<Idmapping> owners = owners(request, staged, source);
            try (DetachedMount mount = source.cloneMount()) {
                if (owners.isEmpty()) {
                    mount.restrict(flags);
                } else {
                    Idmapping mapping = owners.get();
                    mapping.apply(mount, flags, limit);
                    if (!flags.contains(MountFlag.READ_ONLY) && !mounts.isIdmapped(mapping.staged())) {
                        mapping.prove(source, limit);
                    }
                }
                // last, so that a rejected request leaves no directory
                try (DirectoryHandle target = paths.makeEmpty(request.target(), table)) {
                    mount.attach(target);
                }
            }
        } catch (ErrnoException e) {
            throw failed(request, e);
        }
    }

    private static Optional<Idmapping> owners(
            PublishRequest request, Mounters.Recognized staged, DirectoryHandle source) {
        return request.containerUser().map(user -> Idmapping.of(request.volume(), staged.entry(), source, user));
    }

    private static DriverException failed(PublishRequest request, ErrnoException e) {
        return SystemErrors.translate("binding volume " + request.volume() + " to " + request.target(), e);
    }

    /// Returns the staged mount. Restages the volume if it does not respond and the request holds context and
    /// credentials.
    private Mounters.Recognized staged(PublishRequest request, MountTable table, Duration limit) {
        Optional<Mounters.Recognized> found = mounts.find(table, request.volume(), request.staging());
        Optional<MountHealth> health = found.map(mount -> mounts.checkHealth(request.volume(), mount));
        if (found.isPresent() && health.orElseThrow() instanceof MountHealth.Alive) {
            return found.get();
        }
        if (request.restage().isPresent()) {
            var _ = stager.stage(request.restage().get(), new CachePreference.PodUnknown(), limit);
            return mounts.find(request.volume(), request.staging()).orElseThrow();
        }
        if (health.isEmpty()) {
            throw new DriverException.InUse("volume " + request.volume() + " is not staged at " + request.staging()
                    + "; NodeStageVolume comes first");
        }
        // the message holds the cause; credentials come with NodeStageVolume, or with node-publish secrets if the
        // class sets them
        throw new DriverException.BackendUnavailable(health.get().describe(request.volume())
                + "; stage it again, or let the class name the same secret for node-publish as for"
                + " node-stage");
    }

    /// Returns the flags to publish with: the restrictions of the staged mount, of the volume's options and of the
    /// request, combined.
    private static Set<MountFlag> flags(PublishRequest request, Mounters.Recognized staged) {
        List<String> options = new ArrayList<>(request.use().options());
        request.context().map(VolumeContext::mountOptions).ifPresent(options::addAll);
        Set<MountFlag> flags = EnumSet.copyOf(
                ClientOptions.of(options, request.use().isReadOnly()).flags());
        if (staged.entry().isReadOnly() && !flags.contains(MountFlag.READ_ONLY)) {
            throw new DriverException.InUse("volume " + request.volume()
                    + " can only be read here; publish it with readonly or a read-only access mode");
        }
        flags.addAll(staged.entry().flags());
        return flags;
    }

    private void checkNowhereElse(PublishRequest request, Mounters.Recognized staged) {
        List<String> places =
                mounts.placesBeside(staged, request.volume(), List.of(request.staging(), request.target()));
        if (!places.isEmpty()) {
            throw new DriverException.InUse("volume " + request.volume() + " may be published once on this node ("
                    + request.use().access() + "), and is at " + places.getFirst());
        }
    }

    /// CSI v1.13, NodeUnpublishVolume. Removes the target directory, even if nothing is mounted there.
    void unpublish(VolumeId volume, TargetPath target, Duration limit) {
        if (mounts.unmountAll(volume, target, limit)) {
            paths.remove(target);
        }
        if (volume instanceof VolumeId.DatasetVolume dataset) {
            images.sweep(dataset, limit); // this pod may have been the last user of one of its trees
        }
    }
}
