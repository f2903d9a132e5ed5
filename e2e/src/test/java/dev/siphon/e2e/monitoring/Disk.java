package dev.siphon.e2e.monitoring;

import dev.siphon.e2e.lab.Command;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// A small disk of a node, in memory, with a cache directory on it.
///
/// @param mountPoint where it is mounted
record Disk(Path mountPoint) implements AutoCloseable {
    private static final int MIB = 1 << 20;
    private static final int DISK_MIB = 32;

    /// Replicas may take more than the disk has.
    private static final String LIMIT = "1Gi";

    /// Mounts a new disk.
    static Disk at(Path mountPoint) {
        try {
            Disk disk = new Disk(Files.createDirectories(mountPoint));
            disk.insert();
            return disk;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns the node's flags for its cache directory.
    String[] flags() {
        return new String[] {"--cache-dir=" + cache() + "=" + LIMIT, "--require-cache-dirs"};
    }

    private Path cache() {
        return mountPoint.resolve("siphon");
    }

    /// Mounts an empty disk.
    void insert() {
        try {
            Command.run("mount", "-t", "tmpfs", "-o", "size=" + DISK_MIB + "m", "disk", mountPoint.toString());
            Files.createDirectory(cache());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Takes the disk away, from under its readers; succeeds if there is none.
    void remove() {
        if (Files.exists(cache())) {
            Command.run("umount", "--lazy", mountPoint.toString());
        }
    }

    /// Mounts an empty disk in place of the present one.
    void replace() {
        remove();
        insert();
    }

    /// Writes a file beside the cache directory that leaves so many MiB.
    void fill(int leftMib) {
        try {
            Files.write(other(), new byte[(DISK_MIB - leftMib) * MIB]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Deletes the file that [#fill] wrote.
    void empty() {
        try {
            Files.delete(other());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path other() {
        return mountPoint.resolve("other");
    }

    @Override
    public void close() {
        remove();
    }
}
