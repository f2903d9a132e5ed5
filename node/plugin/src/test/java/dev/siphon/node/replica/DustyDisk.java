package dev.siphon.node.replica;

import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.Workplace;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;

/// An ext4 disk that fails on demand, through device-mapper. Needs a kernel with the `dust` target, as in guests of
/// the lab.
final class DustyDisk implements AutoCloseable {
    private static final long BYTES = 40 << 20;
    private static final long BLOCK = 4096;
    private static final long SECTOR = 512;
    private static final long SECTORS = BYTES / SECTOR;

    /// File system metadata comes before this sector.
    private static final long DATA = (4 << 20) / SECTOR;

    private static final String NAME = "siphon-dust";
    private static final String DEVICE = "/dev/mapper/" + NAME;

    private final String loop;
    private final Path mounted;

    private DustyDisk(String loop, Path mounted) {
        this.loop = loop;
        this.mounted = mounted;
    }

    /// Creates and mounts a good disk in `workplace`.
    static DustyDisk create(Workplace workplace) {
        Path file = workplace.path("dusty");
        try (RandomAccessFile made = new RandomAccessFile(file.toFile(), "rw")) {
            made.setLength(BYTES);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        // udev does not create it here; opening it loads the module
        Programs.run("sh", "-c", "test -e /dev/loop-control || mknod /dev/loop-control c 10 237");
        DustyDisk disk = new DustyDisk(
                Programs.run("losetup", "--find", "--show", file.toString()), workplace.directory("dusty-disk"));
        try {
            dmsetup("create", NAME, "--table", disk.good());
            Programs.run("mkfs.ext4", "-q", "-b", Long.toString(BLOCK), "-m", "0", "-O", "^has_journal", DEVICE);
            Programs.run("mount", DEVICE, disk.mounted.toString());
            return disk;
        } catch (RuntimeException e) {
            disk.close();
            throw e;
        }
    }

    Path mounted() {
        return mounted;
    }

    private String good() {
        return "0 " + SECTORS + " dust " + loop + " 0 " + BLOCK;
    }

    /// Makes reads of the block at `offset` of a file fail with an I/O error.
    void breakAt(Path file, long offset) {
        dmsetup("message", NAME, "0", "addbadblock", Long.toString(physical(file, offset) / BLOCK));
        dmsetup("message", NAME, "0", "enable");
    }

    /// Makes all reads and writes of data fail with an I/O error.
    void breakAll() {
        become("0 " + DATA + " linear " + loop + " 0\n" + DATA + " " + (SECTORS - DATA) + " error");
    }

    /// Makes the disk good again, with its old content.
    void mend() {
        become(good());
    }

    private static void become(String table) {
        dmsetup("load", NAME, "--table", table);
        dmsetup("resume", NAME);
    }

    /// Returns the position of a file's `offset` on the disk.
    private static long physical(Path file, long offset) {
        // EXTENT: FIRST.. LAST: PHYSICAL.. LAST: LENGTH: ...
        return Programs.run("filefrag", "-b1", "-v", file.toString())
                .lines()
                .map(line -> List.of(line.strip().split("[.: ]+")))
                .filter(words -> words.size() > 4 && words.getFirst().matches("[0-9]+"))
                .map(words -> words.stream().limit(5).mapToLong(Long::parseLong).toArray())
                .filter(extent -> extent[1] <= offset && offset <= extent[2])
                .map(extent -> extent[3] + offset - extent[1])
                .findFirst()
                .orElseThrow();
    }

    private static void dmsetup(String... arguments) {
        String[] command = new String[arguments.length + 3];
        command[0] = "env";
        command[1] = "DM_DISABLE_UDEV=1";
        command[2] = "dmsetup";
        System.arraycopy(arguments, 0, command, 3, arguments.length);
        Programs.run(command);
    }

    /// Removes the disk, which nothing may be reading.
    @Override
    public void close() {
        Programs.run("sh", "-c", "! mountpoint -q " + mounted + " || umount " + mounted);
        Programs.run("sh", "-c", "! test -e " + DEVICE + " || DM_DISABLE_UDEV=1 dmsetup remove --retry " + NAME);
        Programs.run("losetup", "--detach", loop);
    }
}
