package dev.siphon.controller.ceph.fs;

import dev.siphon.csi.DriverException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;

/// Flattens a tree before its removal: moves what lies deep in it to its top. Ceph removes a directory in a time
/// that grows with its depth. So the time for a chain of directories grows with the square of its length, and the
/// MDS serves nobody else meanwhile.
///
/// It reads every directory that has subdirectories once. The MDS's count of directories below
/// (`ceph.dir.rsubdirs`) would show how deep that can be, but lags: for a chain that was created quickly it grows
/// by two levels in ten seconds.
///
/// It works in slices and remembers little between them: the names on the way to its position, and some of the
/// pieces that it has moved. After a restart of this process, a new start finds the pieces at the top. Users may
/// change the tree meanwhile: it uses inodes and follows no symlink.
final class TreeFlattener {
    /// The deepest level that stays, counted from the top; what is in directories of that level is moved with its
    /// contents. The MDS purges a chain of that length in a second.
    static final int MOST_LEVELS = 64;

    /// Maximum number of remembered pieces; if there were more, the top is read once more.
    private static final int MOST_PIECES = 500;

    /// Maximum number of names that one listing leaves to be read: some wait on each level.
    private static final int BATCH = 16;

    /// Number of directory listings after which the tree is taken as it is: a user who keeps adding directories
    /// cannot prevent a volume's removal.
    private static final long MOST_SEEN = 5_000_000;

    private final String path;
    private final List<OpenLevel> way = new ArrayList<>();
    private final Deque<MountPath> pieces = new ArrayDeque<>();
    private boolean again = true;
    private boolean moves;
    private boolean stopped;
    private final ReentrantLock working = new ReentrantLock();
    private final LongAdder seen = new LongAdder();
    private final LongAdder moved = new LongAdder();
    private final LongAdder left = new LongAdder();

    /// A directory on the way from the top to the current position, each in the one before.
    private static final class OpenLevel {
        private final MountPath name;
        private final Deque<MountPath> below = new ArrayDeque<>();

        /// Where its listing resumes; empty if it is done.
        private OptionalLong from;

        OpenLevel(MountPath name, OptionalLong from) {
            this.name = name;
            this.from = from;
        }

        static OpenLevel listed(MountPath name) {
            return new OpenLevel(name, OptionalLong.of(0));
        }
    }

    /// @param path of the tree's top in the file system
    TreeFlattener(String path) {
        this.path = path;
    }

    /// Continues until `end` by [System#nanoTime]; a call that the MDS does not answer may take longer.
    ///
    /// @param mayMove if false, only reads, and stops where there is something to move
    /// @return whether all is done
    /// @throws DriverException.OperationPending (ABORTED) while a call of an earlier try is unanswered: waiting
    ///     would hold a thread for as long
    boolean work(Mount mount, long end, boolean mayMove) {
        if (!working.tryLock()) {
            throw new DriverException.OperationPending("the MDS has not answered an earlier request about " + path
                    + ": a client holds a directory there and does not answer; retry");
        }
        try {
            return workOn(mount, end, mayMove);
        } finally {
            working.unlock();
        }
    }

    private boolean workOn(Mount mount, long end, boolean mayMove) {
        moves = mayMove;
        stopped = false;
        Optional<CephInode> found = CephInode.find(mount, mount.locate(path));
        if (found.isEmpty()) {
            return true;
        }
        try (CephInode top = found.get()) {
            do {
                if ((way.isEmpty() && !begin()) || seen.sum() > MOST_SEEN) {
                    return true;
                }
                step(top, end);
            } while (!stopped && System.nanoTime() - end < 0);
            return false;
        }
    }

    /// @return whether there is a place to start at
    private boolean begin() {
        Optional<MountPath> piece = Optional.ofNullable(pieces.pollFirst());
        if (piece.isPresent()) {
            way.add(new OpenLevel(MountPath.of(""), OptionalLong.empty()));
            way.add(OpenLevel.listed(piece.get()));
        } else if (again) {
            again = false;
            way.add(OpenLevel.listed(MountPath.of("")));
        }
        return !way.isEmpty();
    }

    private void step(CephInode top, long end) {
        OpenLevel last = way.getLast();
        if (!last.below.isEmpty()) {
            way.add(OpenLevel.listed(last.below.removeFirst()));
        } else if (last.from.isEmpty()) {
            way.removeLast();
        } else {
            try {
                continueFrom(top, top, 0, end);
            } catch (DriverException.NotFound | DriverException.InvalidRequest notThatAnyMore) {
                way.removeLast();
            }
        }
    }

    private void continueFrom(CephInode top, CephInode directory, int level, long end) {
        if (level == way.size() - 1) {
            list(top, directory, level, end);
            return;
        }
        Optional<CephInode> found = directory.child(way.get(level + 1).name);
        if (found.isEmpty()) {
            way.subList(level + 1, way.size()).clear();
            return;
        }
        try (CephInode below = found.get()) {
            continueFrom(top, below, level + 1, end);
        }
    }

    private void list(CephInode top, CephInode directory, int level, long end) {
        OpenLevel place = way.getLast();
        seen.increment();
        OptionalLong rest = directory.list(place.from.orElseThrow(), entry -> {
            boolean outOfReach = entry.isDirectory() && entry.name().isSnapshots();
            if (outOfReach || entry.mayHoldDirectories()) {
                if (level + 1 < MOST_LEVELS && !outOfReach) {
                    place.below.add(entry.name());
                } else if (moves) {
                    move(directory, entry.name(), top);
                } else {
                    stopped = true;
                }
            }
            return !stopped && place.below.size() < BATCH && System.nanoTime() - end < 0;
        });
        if (!stopped) {
            place.from = rest;
        }
    }

    private void move(CephInode parent, MountPath name, CephInode top) {
        MountPath piece = MountPath.of(UUID.randomUUID().toString());
        try {
            moved.add(parent.move(name, top, piece) ? 1 : 0);
        } catch (DriverException.InUse | DriverException.QuotaExhausted | DriverException.AccessDenied cannotBe) {
            left.increment();
            return;
        }
        if (pieces.size() < MOST_PIECES) {
            pieces.addLast(piece);
        } else {
            again = true;
        }
    }

    /// Returns the path of its top in the file system.
    String path() {
        return path;
    }

    /// Returns the number of directory listings.
    long seen() {
        return seen.sum();
    }

    /// Returns the number of directories moved to the top.
    long moved() {
        return moved.sum();
    }

    /// Returns the number of directories that could not be moved: out of one with its own quota, or while the
    /// cluster is full. A full cluster allows no rename, although it needs the space most.
    long left() {
        return left.sum();
    }
}
