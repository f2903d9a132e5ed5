package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.ManifestOutline;
import dev.siphon.node.chunk.ChunkCheck;
import dev.siphon.node.linux.DataFile;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.LoopDevice;
import dev.siphon.node.linux.LoopStatus;
import dev.siphon.node.linux.SystemErrors;
import java.nio.file.Path;
import java.util.Optional;
import jnr.constants.platform.Errno;

/// Creates and changes loop devices over images and replicas.
final class ImageDevice {
    private ImageDevice() {}

    /// Creates a loop device over an image. The kernel removes it when it is closed, unless it is mounted.
    ///
    /// @param image the image, or a replica of it
    /// @param manifest its manifest, already read
    /// @throws DriverException.Unsupported (UNIMPLEMENTED) if the kernel has no loop devices
    /// @throws DriverException.BackendFault (INTERNAL) if the image's length or first chunk differs from the
    ///     manifest: the first chunk holds the superblock, which the kernel trusts
    static LoopDevice make(ImageMountKey key, Path image, ManifestOutline manifest) {
        try (DataFile file = DataFile.open(image)) {
            if (file.size() != manifest.imageBytes() || file.size() % DataFile.ALIGNMENT != 0) {
                throw new DriverException.BackendFault("the image " + image + " has " + file.size()
                        + " bytes, but must have the " + manifest.imageBytes() + " of its manifest, a multiple of "
                        + DataFile.ALIGNMENT);
            }
            if (!ChunkCheck.beginsRight(image, manifest)) {
                throw new DriverException.BackendFault("the image " + image + " is not mounted: its first "
                        + manifest.firstBytes() + " bytes do not match its manifest; seal the dataset again");
            }
            return loop(file, key);
        } catch (ErrnoException e) {
            throw SystemErrors.translate("attaching the image " + image, e);
        }
    }

    private static LoopDevice loop(DataFile file, ImageMountKey key) {
        try {
            return LoopDevice.attach(file, key.tag());
        } catch (ErrnoException e) {
            if (e.is(Errno.ENODEV, Errno.ENXIO)) {
                throw new DriverException.Unsupported("this node cannot read datasets: its kernel has no loop devices:"
                        + " `modprobe loop` on the node, or a kernel built with CONFIG_BLK_DEV_LOOP");
            }
            throw e;
        }
    }

    /// Switches the device to `wanted`, under its readers.
    ///
    /// @param instead as in [ImageMounts#swap]
    static LoopStatus change(LoopDevice device, DataFile wanted, Optional<Path> instead) {
        try {
            return device.change(wanted);
        } catch (ErrnoException e) {
            if (!e.is(Errno.EINVAL) || instead.isEmpty()) {
                throw e;
            }
            try (DataFile old = DataFile.create(instead.get())) {
                old.lengthen(wanted.size());
            }
            return device.change(wanted);
        }
    }
}
