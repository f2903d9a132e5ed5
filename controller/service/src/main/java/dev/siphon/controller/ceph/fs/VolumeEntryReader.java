package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.audit.MetaFile;
import dev.siphon.controller.audit.VolumesDirectory.DataState;
import dev.siphon.controller.audit.VolumesDirectory.EntryState;
import dev.siphon.controller.audit.VolumesDirectory.FileKind;
import dev.siphon.controller.audit.VolumesDirectory.Meta;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Pattern;

/// Reads one entry of a group as [EntryState].
final class VolumeEntryReader {
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    private static final int PERMISSION_BITS = 07777;

    /// More than any `.meta` file that the mgr writes; a longer one is not read.
    private static final long MOST_META_BYTES = 1L << 20;

    /// Maximum number of unexpected names that are reported.
    private static final int MOST_OTHERS = 10;

    private VolumeEntryReader() {}

    /// Reads an entry; empty if it does not exist.
    ///
    /// @throws dev.siphon.csi.DriverException.NotFound (NOT_FOUND) if it disappears meanwhile
    static Optional<EntryState> read(Mount mount, MountPath group, String name) {
        MountPath path = group.child(MountPath.of(name));
        Optional<FileStat> stat = mount.stat(path);
        if (stat.filter(found -> found.kind() == FileStat.Kind.DIRECTORY).isEmpty()) {
            return stat.map(found ->
                    EntryState.noDirectory(name, kind(found), found.modified().instant()));
        }
        try (OpenFile directory = mount.openDirectory(path)) {
            return Optional.of(read(mount, directory, name, stat.get()));
        }
    }

    private static EntryState read(Mount mount, OpenFile directory, String name, FileStat stat) {
        Meta meta = new Meta.Missing();
        List<DataState> data = new ArrayList<>();
        boolean purging = false;
        Others others = new Others();
        List<MountPath> known = new ArrayList<>();
        mount.list(directory.path(), entry -> {
            String child = entry.name().toString();
            if (child.equals(".meta")
                    || child.equals(".trash")
                    || UUID.matcher(child).matches()) {
                known.add(entry.name());
            } else if (!child.equals(".meta.tmp") || entry.isDirectory()) { // the mgr writes it, then renames it
                others.add(child);
            }
        });
        for (MountPath child : known) {
            switch (child.toString()) {
                case ".meta" -> meta = meta(directory, child);
                case ".trash" -> purging = listed(mount, directory.path().child(child)) > 0;
                case String _ -> data.add(data(mount, directory, child));
            }
        }
        return new EntryState(
                name,
                FileKind.DIRECTORY,
                stat.modified().instant(),
                meta,
                data,
                others.names(),
                snapshots(mount, directory.path()),
                purging);
    }

    /// The unexpected entries: the first names, and the number of the others. A user with the key of a group may
    /// create a million.
    private static final class Others {
        private final List<String> first = new ArrayList<>();
        private long more;

        void add(String name) {
            if (first.size() < MOST_OTHERS) {
                first.add(name);
            } else {
                more++;
            }
        }

        List<String> names() {
            List<String> names = new ArrayList<>(first);
            if (more > 0) {
                names.add("and " + more + " more");
            }
            return names;
        }
    }

    private static long listed(Mount mount, MountPath path) {
        LongAdder entries = new LongAdder();
        mount.list(path, _ -> entries.increment());
        return entries.sum();
    }

    /// Returns the subvolume's snapshots. Those of the group show up too, as `_NAME_INODE`, and are skipped.
    private static List<String> snapshots(Mount mount, MountPath path) {
        List<String> names = new ArrayList<>();
        mount.list(
                path.child(MountPath.of(".snap")),
                entry -> names.add(entry.name().toString()));
        return names.stream().filter(name -> !name.startsWith("_")).sorted().toList();
    }

    private static DataState data(Mount mount, OpenFile directory, MountPath name) {
        MountPath path = directory.path().child(name);
        FileStat stat = mount.stat(path).orElseThrow(() -> gone(path));
        if (stat.kind() != FileStat.Kind.DIRECTORY) {
            return new DataState(name.toString(), kind(stat), stat.uid(), stat.gid(), 0, 0, "");
        }
        try (OpenFile open = directory.openDirectory(name)) {
            long counted = open.number("ceph.dir.entries").orElse(0);
            return new DataState(
                    name.toString(),
                    FileKind.DIRECTORY,
                    stat.uid(),
                    stat.gid(),
                    stat.mode() & PERMISSION_BITS,
                    // The MDS's count may lag, and an empty directory may be deleted.
                    counted > 0 ? counted : listed(mount, path),
                    open.attribute("ceph.dir.layout.pool_namespace").orElse(""));
        }
    }

    private static dev.siphon.csi.DriverException gone(MountPath path) {
        return new dev.siphon.csi.DriverException.NotFound(path + " disappeared while it was read");
    }

    private static Meta meta(OpenFile directory, MountPath name) {
        FileStat stat = directory
                .mount()
                .stat(directory.path().child(name))
                .orElseThrow(() -> gone(directory.path().child(name)));
        if (stat.kind() != FileStat.Kind.REGULAR) {
            return new Meta.Broken("is not a file");
        }
        if (stat.sizeBytes() > MOST_META_BYTES) {
            return new Meta.Broken("is " + stat.sizeBytes() + " bytes long");
        }
        try (OpenFile file = directory.open(name, OpenFlags.READ);
                Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(MOST_META_BYTES);
            int length = file.read(buffer, 0);
            String text = new String(buffer.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
            MetaFile read = MetaFile.parse(text);
            return read.sections().isEmpty() ? new Meta.Broken("is empty") : new Meta.Read(read);
        } catch (MetaFile.Invalid invalid) {
            return new Meta.Broken(String.valueOf(invalid.getMessage()));
        }
    }

    private static FileKind kind(FileStat stat) {
        return switch (stat.kind()) {
            case DIRECTORY -> FileKind.DIRECTORY;
            case SYMLINK -> FileKind.SYMLINK;
            case REGULAR, PIPE, DEVICE -> FileKind.OTHER;
        };
    }
}
