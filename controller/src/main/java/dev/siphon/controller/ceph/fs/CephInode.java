package dev.siphon.controller.ceph.fs;

import static java.lang.foreign.ValueLayout.ADDRESS;

import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.controller.ceph.fs.Libcephfs.Function;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;

/// What a client of libcephfs knows a file by, wherever others move it: a path that is looked up twice
/// may lead through a symlink the second time, an inode leads nowhere else. Every method blocks in
/// native code.
///
/// @param path where it was found, for messages
record CephInode(Mount mount, MountPath path, MemorySegment pointer) implements AutoCloseable {
    /// The directory that is mounted.
    static CephInode root(Mount mount) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment found = arena.allocate(ADDRESS);
            MountPath path = mount.locate(mount.root());
            mount.call(path, Function.LL_LOOKUP_ROOT, found);
            return new CephInode(mount, path, found.get(ADDRESS, 0));
        }
    }

    /// What is at a path; empty if nothing is. No symlink on the way is followed.
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

    /// What has that name in this directory, itself where it is a symlink; empty if nothing has, or
    /// this is no directory.
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

    /// Hands entries of this directory to `each`, until that says that it is enough. What others add or
    /// remove meanwhile may be missed.
    ///
    /// @param from 0 for the first, or what another listing of this directory has returned
    /// @return where the next is; empty if all were handed over
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

    /// Moves what has a name in this directory to another one.
    ///
    /// @return whether it was there
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

    /// Lets go of it.
    @Override
    public void close() {
        mount.client().callUnchecked(Function.LL_PUT, pointer);
    }
}
