package dev.siphon.node.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import jnr.constants.platform.Errno;

/// Reads a tree of files by descriptors, one directory at a time. It follows no symbolic link, crosses no mount,
/// and never leaves the root, even during renames: openat2(2) fails with ELOOP or EXDEV. Names are bytes and are
/// never decoded.
///
/// Confined to the thread that created it. Every method may hang with the file system, and throws [ErrnoException].
public final class TreeReader implements AutoCloseable {
    private static final long AT_SYMLINK_NOFOLLOW = 0x100;
    private static final long RESOLVE = Descriptor.RESOLVE_NO_XDEV
            | Descriptor.RESOLVE_NO_MAGICLINKS
            | Descriptor.RESOLVE_NO_SYMLINKS
            | Descriptor.RESOLVE_BENEATH;
    /// `PATH_MAX`, with the terminating NUL
    private static final int PATH_BYTES = 4096;
    /// the maximum size of a list of extended attributes, and of a value (`linux/limits.h`)
    private static final int ATTRIBUTE_BYTES = 65536;

    private static final byte[] EMPTY = {};
    private static final byte[] DOT = {'.'};
    private static final long ENTRY_LENGTH = 16;
    private static final long ENTRY_NAME = 19;

    private final DirectoryHandle root;
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment path = arena.allocate(PATH_BYTES);
    private final MemorySegment name = arena.allocate(PATH_BYTES);
    private final MemorySegment content = arena.allocate(ATTRIBUTE_BYTES, Long.BYTES);
    private final MemorySegment status = arena.allocate(FileStatus.BYTES, Long.BYTES);
    private final MemorySegment how = arena.allocate(ValueLayout.JAVA_LONG, 3);
    private Descriptor here;

    /// Creates a reader at `root`, which must stay open as long as the reader.
    public TreeReader(DirectoryHandle root) {
        this.root = root;
        here = open(root.number(), DOT, Syscalls.O_DIRECTORY);
    }

    /// Enters the directory at `relative`, a path of any length from the root. An empty path is the root.
    ///
    /// @throws ErrnoException ELOOP for a symbolic link on the way, EXDEV for a mount, ENOTDIR, ENOENT
    public void enter(byte[] relative) {
        Descriptor found = open(root.number(), DOT, Syscalls.O_DIRECTORY);
        int start = 0;
        while (start < relative.length) {
            int end = partEnd(relative, start);
            byte[] part = java.util.Arrays.copyOfRange(relative, start, end);
            try (Descriptor above = found) {
                found = open(above.number(), part, Syscalls.O_DIRECTORY);
            }
            start = end + 1;
        }
        here.close();
        here = found;
    }

    /// Returns where the part of a path ends that fits one call: at a slash, or at the end.
    private static int partEnd(byte[] relative, int start) {
        int end = Math.min(relative.length, start + PATH_BYTES - 1);
        while (end < relative.length && relative[end] != '/') {
            end--;
        }
        return end;
    }

    /// Returns all names in this directory except `.` and `..`, unordered.
    public List<byte[]> names() {
        List<byte[]> names = new ArrayList<>();
        // a new descriptor starts at the beginning, even if the directory was read before
        try (Descriptor listed = open(here.number(), DOT, Syscalls.O_DIRECTORY)) {
            long length;
            while ((length = Syscalls.GETDENTS64.call(listed.number(), content.address(), content.byteSize())) > 0) {
                for (long at = 0; at < length; ) {
                    byte[] found = text(content, at + ENTRY_NAME);
                    if (!(found.length == 1 && found[0] == '.')
                            && !(found.length == 2 && found[0] == '.' && found[1] == '.')) {
                        names.add(found);
                    }
                    at += Short.toUnsignedInt(content.get(ValueLayout.JAVA_SHORT_UNALIGNED, at + ENTRY_LENGTH));
                }
            }
        }
        return names;
    }

    /// Returns the status of `child` in this directory; of a symbolic link itself, not of its target.
    public FileStatus status(byte[] child) {
        return status(here.number(), child, AT_SYMLINK_NOFOLLOW);
    }

    /// Returns the status of this directory.
    public FileStatus status() {
        return status(here);
    }

    FileStatus status(Descriptor of) {
        return status(of.number(), EMPTY, Syscalls.AT_EMPTY_PATH);
    }

    private FileStatus status(int at, byte[] child, long flags) {
        Syscalls.STATX.call(at, text(name, child), flags, FileStatus.MASK, status.address());
        return FileStatus.of(status);
    }

    /// Returns the target of the symbolic link `child`, as stored.
    public byte[] target(byte[] child) {
        long length = Syscalls.READLINKAT.call(here.number(), text(name, child), content.address(), content.byteSize());
        return content.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE);
    }

    /// Returns the extended attributes of `child` that match `wanted`, by name; each character of a name is one
    /// byte. Empty if the file system does not support them.
    public SortedMap<String, byte[]> attributes(byte[] child, Predicate<String> wanted) {
        long file = text(path, concatenated((here.path() + "/").getBytes(StandardCharsets.US_ASCII), child));
        SortedMap<String, byte[]> attributes = new TreeMap<>();
        for (String attribute : attributeNames(file)) {
            if (wanted.test(attribute)) {
                long named = text(name, attribute.getBytes(StandardCharsets.ISO_8859_1));
                long length = Syscalls.LGETXATTR.call(file, named, content.address(), content.byteSize());
                attributes.put(attribute, content.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE));
            }
        }
        return attributes;
    }

    private List<String> attributeNames(long file) {
        List<String> names = new ArrayList<>();
        try {
            long length = Syscalls.LLISTXATTR.call(file, content.address(), content.byteSize());
            for (long at = 0; at < length; ) {
                byte[] found = text(content, at);
                names.add(new String(found, StandardCharsets.ISO_8859_1));
                at += found.length + 1;
            }
        } catch (ErrnoException e) {
            // Linux' EOPNOTSUPP: both have the same number
            if (!e.is(Errno.ENOTSUP)) {
                throw e;
            }
        }
        return names;
    }

    /// Opens the file `child` of this directory for reading. Does not block if it was replaced meanwhile, such as
    /// by a FIFO.
    public TreeFile open(byte[] child) {
        return new TreeFile(this, open(here.number(), child, Descriptor.O_NONBLOCK));
    }

    private Descriptor open(int at, byte[] relative, long flags) {
        how.setAtIndex(ValueLayout.JAVA_LONG, 0, flags | Descriptor.O_CLOEXEC | Syscalls.O_NOFOLLOW);
        how.setAtIndex(ValueLayout.JAVA_LONG, 2, RESOLVE);
        return new Descriptor(Syscalls.OPENAT2.call(at, text(name, relative), how.address(), how.byteSize()));
    }

    private static byte[] concatenated(byte[] first, byte[] second) {
        byte[] both = java.util.Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, both, first.length, second.length);
        return both;
    }

    /// Copies `bytes` into `memory` as a C string, and returns its address.
    private static long text(MemorySegment memory, byte[] bytes) {
        MemorySegment.copy(bytes, 0, memory, ValueLayout.JAVA_BYTE, 0, bytes.length);
        memory.set(ValueLayout.JAVA_BYTE, bytes.length, (byte) 0);
        return memory.address();
    }

    private static byte[] text(MemorySegment memory, long at) {
        long end = at;
        while (memory.get(ValueLayout.JAVA_BYTE, end) != 0) {
            end++;
        }
        return memory.asSlice(at, end - at).toArray(ValueLayout.JAVA_BYTE);
    }

    @Override
    public void close() {
        here.close();
        arena.close();
    }
}
