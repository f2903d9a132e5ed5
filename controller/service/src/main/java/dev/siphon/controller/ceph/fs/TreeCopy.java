package dev.siphon.controller.ceph.fs;

import dev.siphon.controller.ceph.call.NativeThreads;
import dev.siphon.controller.volume.FileTree;
import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/// Copies one tree with several threads in its own mount, so that it neither waits for nor delays anything else.
///
/// It needs no [dev.siphon.csi.DeadlineExecutor]: no deadline ends a copy, whose threads end before its mount.
///
/// A directory gets its times and owner after everything in it is done. Paths are safe: nobody changes the
/// source, a snapshot, and nobody has mounted the target volume yet.
///
/// File names for which [HardLinks] has no memory are left to another pass over what exists then.
final class TreeCopy {
    private static final int WORKERS = 8;

    private final Order order;
    private final FileTree.Copy progress =
            new FileTree.Copy(new CompletableFuture<>(), new LongAdder(), new LongAdder());
    private final HardLinkBudget memory;
    private volatile boolean stopped;

    /// What to copy where, and its new owner.
    record Order(String source, String target, int uid, int gid) {}

    private TreeCopy(Order order, HardLinkBudget memory) {
        this.order = order;
        this.memory = memory;
    }

    /// Starts a copy when `copies` has a thread for it.
    ///
    /// @param memory shared with other copies and archives
    static FileTree.Copy start(Executor copies, Supplier<Mount> mounts, Order order, HardLinkBudget memory) {
        TreeCopy copy = new TreeCopy(order, memory);
        var _ = copy.progress.done().whenComplete((_, _) -> copy.stopIf(true));
        var _ = CompletableFuture.runAsync(() -> copy.run(mounts), copies)
                .whenComplete((_, error) -> copy.ended(Optional.ofNullable(error)));
        return copy.progress;
    }

    private void ended(Optional<Throwable> error) {
        error.map(thrown ->
                        thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown)
                .ifPresentOrElse(
                        progress.done()::completeExceptionally,
                        () -> progress.done().complete(null));
    }

    private void run(Supplier<Mount> mounts) {
        if (stopped) {
            return;
        }
        try (Mount own = mounts.get()) {
            copyTree(own);
            own.sync();
        }
    }

    private void copyTree(Mount own) {
        MountPath source = own.locate(order.source());
        MountPath target = own.locate(order.target());
        own.openDirectory(source).close();
        own.openDirectory(target).close();
        long before = Long.MAX_VALUE;
        for (Left left = pass(own, source, target); left.names() > 0; left = pass(own, source, target)) {
            if (left.names() >= before) {
                throw left.problem(order.source());
            }
            before = left.names();
        }
    }

    /// The names that a pass left for another.
    ///
    /// @param crowded whether concurrent copies caused that
    private record Left(long names, boolean crowded) {
        DriverException problem(String source) {
            String what = "the controller's memory does not suffice for " + names + " hard links in " + source;
            return crowded
                    ? new DriverException.BackendUnavailable(
                            what + " while other copies run; retry when they have ended")
                    : new DriverException.QuotaExhausted(what + "; give it more memory (JDK_JAVA_OPTIONS=-Xmx...)");
        }
    }

    /// Copies what does not exist yet.
    private Left pass(Mount own, MountPath source, MountPath target) {
        progress.copiedBytes().reset();
        progress.copiedEntries().reset();
        try (HardLinks links = new HardLinks(memory)) {
            pass(own, source, target, links);
            return new Left(links.refused(), links.isCrowded());
        }
    }

    private void pass(Mount own, MountPath source, MountPath target, HardLinks links) {
        CephTreeWalk walk = new CephTreeWalk(
                (directory, from, each) -> own.listFrom(directory.in(source), from, each), () -> stopped);
        try (ExecutorService workers = Executors.newFixedThreadPool(
                WORKERS, NativeThreads.numbered("copy-worker-").factory())) {
            List<CompletableFuture<Void>> running = new ArrayList<>();
            for (int i = 0; i < WORKERS; i++) {
                running.add(CompletableFuture.runAsync(() -> work(own, source, target, walk, links), workers)
                        .whenComplete((_, error) -> stopIf(error != null)));
            }
            CompletableFuture.allOf(running.toArray(CompletableFuture[]::new)).join();
        }
        if (!walk.isDone()) {
            throw new DriverException.BackendUnavailable("the copy to " + order.target() + " was stopped");
        }
    }

    /// Stops the workers; those that hang stop when the MDS replies again. They are not abandoned: a client that
    /// disappears without unmounting keeps others waiting at the MDS for a minute.
    private void stopIf(boolean over) {
        if (over) {
            stopped = true;
        }
    }

    private void work(Mount own, MountPath source, MountPath target, CephTreeWalk walk, HardLinks links) {
        try (EntryCopy copier = new EntryCopy(own, order, links, progress)) {
            walk.work(new CephTreeWalk.Visitor() {
                @Override
                public void enter(DirectoryNode directory) {
                    directory.requireWalkable(source);
                    if (directory.level() > 0) {
                        own.makeDirectory(directory.in(target));
                    }
                }

                @Override
                public void visit(DirectoryNode directory, List<MountPath> names) {
                    MountPath from = directory.in(source);
                    MountPath to = directory.in(target);
                    for (MountPath name : names) {
                        if (!stopped) {
                            copier.copy(from.child(name), to.child(name));
                        }
                    }
                }

                @Override
                public void leave(DirectoryNode directory) {
                    MountPath from = directory.in(source);
                    MountPath to = directory.in(target);
                    copier.copyAttributes(from, to);
                    if (directory.level() > 0) {
                        copier.finish(from, to);
                    }
                }
            });
        }
    }
}
