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
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Writes one tree to one archive, in the order of [CephTreeWalk]. It never holds a whole directory of a million
/// files or directories in memory.
final class CephArchiver implements AutoCloseable, CephTreeWalk.Visitor {
    private static final int PERMISSION_BITS = 07777;
    private static final int BLOCK_BYTES = 1 << 20;

    private final Mount mount;
    private final MountPath root;
    private final TarWriter tar;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment block = arena.allocate(BLOCK_BYTES);
    private final byte[] bytes = new byte[BLOCK_BYTES];
    private final HardLinks links;

    private long entries;
    private long written;
    private long leftOut;

    CephArchiver(Mount mount, MountPath root, TarWriter tar, HardLinks links) {
        this.mount = mount;
        this.root = root;
        this.tar = tar;
        this.links = links;
    }

    /// Writes the whole tree.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the tree is deeper than [DirectoryNode#MOST_LEVELS]
    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if it has more hard-linked files than this
    ///     process can remember
    Archived run() {
        mount.openDirectory(root).close();
        new CephTreeWalk((directory, from, each) -> mount.listFrom(directory.in(root), from, each), () -> false)
                .work(this);
        return new Archived(entries, written, leftOut);
    }

    @Override
    public void enter(DirectoryNode directory) {
        directory.requireWalkable(root);
        write(directory.in(root));
    }

    @Override
    public void visit(DirectoryNode directory, List<MountPath> names) {
        MountPath path = directory.in(root);
        names.forEach(name -> write(path.child(name)));
    }

    @Override
    public void leave(DirectoryNode directory) {
        // A tar archive has no entry for the end of a directory.
    }

    private void write(MountPath path) {
        FileStat stat = mount.stat(path)
                .orElseThrow(() -> new DriverException.NotFound(path.brief() + " disappeared during the export"));
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
        if (stat.links() < 2) {
            writeContents(path, stat);
            return;
        }
        switch (links.meet(stat.inode(), stat.links(), new MountPath(name(path)))) {
            case HardLinks.First _ -> writeContents(path, stat);
            case HardLinks.Again again ->
                begin(entry(
                        MemberType.HARD_LINK, path, stat, again.first().name().bytes()));
            case HardLinks.NoRoom _ ->
                throw new DriverException.QuotaExhausted(
                        path.brief() + " has hard links, but this process can remember only " + links.remembered()
                                + " such files; give it more memory (JDK_JAVA_OPTIONS=-Xmx...)");
        }
    }

    private void writeContents(MountPath path, FileStat stat) throws IOException {
        begin(entry(MemberType.FILE, path, stat, ""));
        try (OpenFile file = mount.open(path, OpenFlags.READ)) {
            long offset = 0;
            while (offset < stat.sizeBytes()) {
                int length = file.read(block, offset);
                if (length == 0) {
                    throw new DriverException.BackendFault(path.brief() + " is shorter than its size says");
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

    /// Returns the name in the archive: relative, starting with `.`.
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
