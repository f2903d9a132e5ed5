package dev.siphon.controller.offboard;

import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.Subvolumes;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Set;
import java.util.UUID;

/// Exports volumes to files, each from a snapshot that callers do not see. The snapshot is removed afterwards;
/// `siphon audit` finds leftovers.
public final class Export {
    /// Distinguishes concurrent exports of one volume.
    private final String run = UUID.randomUUID().toString();

    private final Subvolumes subvolumes;
    private final FileTree files;
    private final Archiver archiver;

    public Export(CephPorts ceph, Archiver archiver) {
        this.subvolumes = ceph.subvolumes();
        this.files = ceph.files();
        this.archiver = archiver;
    }

    /// Writes a volume to a file of mode 0600, and creates its directory if needed. The file appears only once it
    /// is complete, and replaces an existing one.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the file cannot be written
    public Archiver.Archived write(VolumeId.Provisioned volume, Path file) {
        SnapshotId snapshot = new SnapshotId(volume, CephNames.exportSnapshot(Instant.now(), run));
        subvolumes.createSnapshot(snapshot);
        try {
            String path = files.dataDirectory(
                    volume.cluster(), volume.fileSystem(), SubvolumeGroup.pathOf(volume) + "/.snap/" + snapshot.name());
            return write(volume, path, file);
        } catch (IOException failed) {
            throw new DriverException.BackendUnavailable("volume " + volume + " cannot be written to " + file, failed);
        } finally {
            subvolumes.removeSnapshot(snapshot);
        }
    }

    private Archiver.Archived write(VolumeId.Provisioned volume, String path, Path file) throws IOException {
        Files.createDirectories(file.getParent());
        Path part = file.resolveSibling(file.getFileName() + "." + run + ".part");
        try {
            Archiver.Archived written = archive(volume, path, part);
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return written;
        } finally {
            Files.deleteIfExists(part);
        }
    }

    private Archiver.Archived archive(VolumeId.Provisioned volume, String path, Path part) throws IOException {
        try (FileChannel channel = FileChannel.open(
                part,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")))) {
            OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel), 1 << 16);
            return archiver.archive(volume.cluster(), volume.fileSystem(), path, new Synced(out, channel));
        }
    }

    /// Syncs the file to disk when closed.
    private static final class Synced extends OutputStream {
        private final OutputStream out;
        private final FileChannel channel;

        Synced(OutputStream out, FileChannel channel) {
            this.out = out;
            this.channel = channel;
        }

        @Override
        public void write(int one) throws IOException {
            out.write(one);
        }

        @Override
        public void write(byte[] bytes, int at, int length) throws IOException {
            out.write(bytes, at, length);
        }

        @Override
        public void close() throws IOException {
            out.flush();
            channel.force(true);
        }
    }
}
