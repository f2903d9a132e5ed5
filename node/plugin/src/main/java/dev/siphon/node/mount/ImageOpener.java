package dev.siphon.node.mount;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.ManifestOutline;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountTable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/// Mounts the images of datasets, and checks that Ceph opens them for the credentials. The caller holds the
/// dataset's lock.
final class ImageOpener {
    private static final String MANIFEST = Dataset.MANIFEST;

    private final VolumeMounts mounts;
    private final ClientRoots roots;
    private final OpenedDatasets opened;
    private final BlockingCalls calls;
    private final ImageKeys keys = new ImageKeys(System::nanoTime);

    ImageOpener(VolumeMounts mounts, ClientRoots roots, OpenedDatasets opened, BlockingCalls calls) {
        this.mounts = mounts;
        this.roots = roots;
        this.opened = opened;
        this.calls = calls;
    }

    /// Mounts the image if it is not mounted, and checks that the credentials can read it.
    ///
    /// @param source where it is mounted
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) or DeadlinePassed (DEADLINE_EXCEEDED) if Ceph does
    ///     not answer
    Digest open(VolumeId.DatasetVolume volume, Path source, Mounter mounter, ClientMount client, Duration limit) {
        boolean mounted = mounts.findAlive(
                        volume.withoutClaim(), TargetPath.parse("state directory", source.toString()))
                .isPresent();
        if (mounted && keys.have(volume, client.credentials())) {
            return digest(volume, source, limit);
        }
        if (mounted) {
            openAside(volume, mounter, client, limit);
        } else {
            keys.forget(volume.digest());
            try {
                Files.createDirectories(source);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot make a mount point in the state directory", e);
            }
            mounter.mount(client, source, limit);
        }
        Digest digest = digest(volume, source, limit);
        keys.add(volume, client.credentials());
        opened.add(volume, digest, client.credentials());
        return digest;
    }

    /// Checks the credentials as if the image were not mounted: mounts it a second time and reads the manifest
    /// there.
    private void openAside(VolumeId.DatasetVolume volume, Mounter mounter, ClientMount client, Duration limit) {
        Optional<MountEntry> mounted;
        try (ClientRoots.Root aside = roots.create()) {
            mounter.mount(client, aside.path(), limit);
            mounted = MountTable.read().at(aside.path().toString());
            var _ = digest(volume, aside.path(), limit);
        }
        mounted.ifPresent(entry -> mounter.awaitEnd(entry, limit));
    }

    /// Reads the manifest, and checks that its digest is the one in the volume's id. A client may be up, and its OSDs
    /// not: then the read hangs, and the caller must not keep the dataset's lock.
    private Digest digest(VolumeId.DatasetVolume volume, Path source, Duration limit) {
        Path manifest = source.resolve(MANIFEST);
        return calls.check(
                "manifest of " + volume.withoutClaim(), manifest.toString(), limit, () -> read(volume, manifest));
    }

    private static Digest read(VolumeId.DatasetVolume volume, Path manifest) {
        try {
            Digest digest = ManifestOutline.read(manifest).root();
            if (!digest.beginning().equals(volume.digest())) {
                throw new DriverException.InUse(volume.path() + " holds another dataset, " + digest.beginning()
                        + ", not " + volume + "; put that digest into the PV's volumeHandle");
            }
            return digest;
        } catch (NoSuchFileException _) {
            throw new DriverException.NotFound("dataset " + volume + ": there is no " + MANIFEST + " in "
                    + volume.path() + "; `siphon dataset pack` writes one beside the image");
        } catch (DriverException.InvalidRequest e) {
            throw new DriverException.InUse("dataset " + volume + ": " + e.getMessage());
        } catch (AccessDeniedException e) {
            throw refused(volume, e);
        } catch (FileSystemException e) {
            if ("Operation not permitted".equals(e.getReason())) {
                throw refused(volume, e);
            }
            throw new DriverException.BackendUnavailable("dataset " + volume + ": cannot read its manifest: " + e, e);
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable("dataset " + volume + ": cannot read its manifest: " + e, e);
        }
    }

    /// The MDS has let the key in, and the OSDs do not: that is no silence.
    private static DriverException refused(VolumeId.DatasetVolume volume, IOException e) {
        return new DriverException.AccessDenied("dataset " + volume + ": Ceph's OSDs refuse the key: " + e);
    }

    /// Forgets which keys have opened an image that is no longer mounted.
    ///
    /// @param beginning the beginning of the dataset's digest
    void forget(String beginning) {
        keys.forget(beginning);
    }
}
