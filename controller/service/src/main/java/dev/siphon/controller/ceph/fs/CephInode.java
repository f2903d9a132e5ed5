package dev.siphon.controller.ceph.fs;

import static java.lang.foreign.ValueLayout.ADDRESS;

import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.controller.ceph.fs.Libcephfs.Function;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;

/// An inode of a libcephfs client, which stays the same file wherever others move it. A path that is resolved
/// twice may lead through a symlink the second time. Every method blocks in native code.
///
/// @param path where it was found, for messages
record CephInode(Mount mount, MountPath path, MemorySegment pointer) implements AutoCloseable {
    /// Returns the mounted directory.
    static CephInode root(Mount mount) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment found = arena.allocate(ADDRESS);
            MountPath path = mount.locate(mount.root());
            mount.call(path, Function.LL_LOOKUP_ROOT, found);
            return new CephInode(mount, path, found.get(ADDRESS, 0));
        }
    }

    /// Returns what is at a path; empty if nothing is. Follows no symlink on the way.
    static Optional<CephInode> find(Mount mount, MountPath path) {
        CephInode found = root(mount);
        for (MountPath name : path.steps()) {
            try (CephInode above = found) {
                Optional<CephInode> below = above.child(name);
                if (below.isEmpty()) {
                    return Optional.empty();
                }
                found = below.get();
            }
        }
        return Optional.of(found);
    }

    /// Returns the entry of that name in this directory, without following a symlink; empty if there is none, or
    /// if this is not a directory.
    Optional<CephInode> child(MountPath name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment found = arena.allocate(ADDRESS);
            MountPath whole = path.child(name);
            Object[] arguments = {
                pointer,
                name.in(arena),
                found,
                arena.allocate(FileStat.BYTES, 8),
                0,
                0,
                mount.client().permissions()
            };
            int returnCode = mount.client().callUnchecked(Function.LL_LOOKUP, arguments);
            if (CephErrno.ENOENT.is(returnCode) || CephErrno.ENOTDIR.is(returnCode)) {
                return Optional.empty();
            }
            mount.check(whole, returnCode);
            return Optional.of(new CephInode(mount, whole, found.get(ADDRESS, 0)));
        }
    }

    /// Passes entries of this directory to `each` until it returns false. May miss entries that others add or
    /// remove meanwhile.
    ///
    /// @param from 0 for the first, or the result of an earlier listing of this directory
    /// @return where the next entry is; empty after the last one
    OptionalLong list(long from, Predicate<Mount.Entry> each) {
        return mount.client().listings().take(pointer.address(), () -> openAndRead(from, each));
    }

    private OptionalLong openAndRead(long from, Predicate<Mount.Entry> each) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment opened = arena.allocate(ADDRESS);
            mount.call(
                    path, Function.LL_OPENDIR, pointer, opened, mount.client().permissions());
            MemorySegment directory = opened.get(ADDRESS, 0);
            try {
                return mount.read(path, directory, from, each);
            } finally {
                mount.client().callUnchecked(Function.LL_RELEASEDIR, directory);
            }
        }
    }

    /// Moves an entry of this directory to another one.
    ///
    /// @return whether it existed
    boolean move(MountPath name, CephInode to, MountPath newName) {
        try (Arena arena = Arena.ofConfined()) {
            Object[] arguments = {
                pointer,
                name.in(arena),
                to.pointer,
                newName.in(arena),
                mount.client().permissions()
            };
            int returnCode = mount.client().callUnchecked(Function.LL_RENAME, arguments);
            if (CephErrno.ENOENT.is(returnCode)) {
                return false;
            }
            mount.check(path.child(name), returnCode);
            return true;
        }
    }

    /// Releases the inode.
    @Override
    public void close() {
        mount.client().callUnchecked(Function.LL_PUT, pointer);
    }
}
