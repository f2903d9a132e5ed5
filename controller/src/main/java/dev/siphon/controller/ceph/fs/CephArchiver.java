package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.offboard.Archiver.Archived;
import dev.siphon.controller.offboard.TarWriter;
import dev.siphon.controller.offboard.TarWriter.Member;
import dev.siphon.controller.offboard.TarWriter.MemberType;
import dev.siphon.csi.DriverException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/// Reads one tree into one archive. A directory of a million files is never in memory: each entry is written when it is
/// read, and only directories wait.
final class CephArchiver implements AutoCloseable {
    private static final int PERMISSION_BITS = 07777;
    private static final int BLOCK_BYTES = 1 << 20;

    private final Mount mount;
    private final MountPath root;
    private final TarWriter tar;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment block = arena.allocate(BLOCK_BYTES);
    private final byte[] bytes = new byte[BLOCK_BYTES];
    private final Deque<MountPath> directories = new ArrayDeque<>();

    /// Files with several names, by inode: the first name.
    private final Map<Long, String> linked = new HashMap<>();

    private long entries;
    private long written;
    private long leftOut;

    CephArchiver(Mount mount, MountPath root, TarWriter tar) {
        this.mount = mount;
        this.root = root;
        this.tar = tar;
    }

    /// Writes everything.
    Archived run() {
        mount.openDirectory(root).close();
        directories.push(root);
        while (!directories.isEmpty()) {
            MountPath directory = directories.pop();
            write(directory);
            mount.list(directory, entry -> {
                MountPath path = directory.child(entry.name());
                if (entry.isDirectory()) {
                    directories.push(path);
                } else {
                    write(path);
                }
            });
        }
        return new Archived(entries, written, leftOut);
    }

    private void write(MountPath path) {
        FileStat stat = mount.stat(path).orElseThrow(() -> new DriverException.NotFound(path + " has gone"));
        try {
            switch (stat.kind()) {
                case DIRECTORY -> begin(entry(MemberType.DIRECTORY, path, stat, ""));
                case SYMLINK ->
                    begin(entry(
                            MemberType.SYMLINK, path, stat, mount.readLink(path).bytes()));
                case REGULAR -> writeFile(path, stat);
                case PIPE, DEVICE -> {
                    if ((stat.mode() & 0170000) == 0010000) {
                        begin(entry(MemberType.FIFO, path, stat, ""));
                    } else {
                        leftOut++;
                    }
                }
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private void writeFile(MountPath path, FileStat stat) throws IOException {
        String first = stat.links() > 1 ? linked.getOrDefault(stat.inode(), "") : "";
        if (!first.isEmpty()) {
            begin(entry(MemberType.HARD_LINK, path, stat, first));
            return;
        }
        if (stat.links() > 1) {
            linked.put(stat.inode(), name(path));
        }
        begin(entry(MemberType.FILE, path, stat, ""));
        try (OpenFile file = mount.open(path, OpenFlags.READ)) {
            long offset = 0;
            while (offset < stat.sizeBytes()) {
                int length = file.read(block, offset);
                if (length == 0) {
                    throw new DriverException.BackendFault(path + " is shorter than it says");
                }
                MemorySegment.copy(block, ValueLayout.JAVA_BYTE, 0, bytes, 0, length);
                tar.write(bytes, length);
                offset += length;
            }
            tar.pad(offset);
            written += offset;
        }
    }

    private void begin(Member entry) throws IOException {
        tar.begin(entry);
        entries++;
    }

    private Member entry(MemberType type, MountPath path, FileStat stat, String target) {
        Map<String, byte[]> attributes = new HashMap<>();
        if (type != MemberType.SYMLINK) {
            for (String name : mount.userAttributes(path)) {
                attributes.put(name, mount.attributeBytes(path, name));
            }
        }
        return new Member(
                type,
                name(path),
                target,
                stat.mode() & PERMISSION_BITS,
                stat.uid(),
                stat.gid(),
                type == MemberType.FILE ? stat.sizeBytes() : 0,
                stat.modified().seconds(),
                attributes);
    }

    /// As tar has it: relative, and with a slash behind a directory.
    private String name(MountPath path) {
        return path.equals(root)
                ? "./"
                : "." + path.bytes().substring(root.bytes().length());
    }

    @Override
    public void close() {
        arena.close();
    }
}
