package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class CephTreeWalkTest {
    private static final int WORKERS = 8;

    /// A tree of `levels` levels. The root and the first `goOn` directories of each directory have `directories`
    /// directories and `files` files; the others are empty.
    private record Tree(int levels, int directories, int goOn, int files) implements CephTreeWalk.Lister {
        @Override
        public OptionalLong list(DirectoryNode directory, long from, Predicate<Mount.Entry> each) {
            boolean has = directory.level() == 0
                    || (directory.level() < levels
                            && Integer.parseInt(directory.name().bytes().substring(1)) < goOn);
            int all = has ? directories + files : 0;
            for (int i = (int) from; i < all; i++) {
                boolean isDirectory = i < directories;
                if (!each.test(
                        new Mount.Entry(MountPath.of((isDirectory ? "d" : "f") + i), isDirectory, isDirectory))) {
                    return OptionalLong.of(i + 1);
                }
            }
            return OptionalLong.empty();
        }
    }

    /// Counts directories and files, and records the most names passed at once.
    private static class Counter implements CephTreeWalk.Visitor {
        private final AtomicInteger entered = new AtomicInteger();
        private final AtomicInteger files = new AtomicInteger();
        private final AtomicInteger left = new AtomicInteger();
        private final AtomicInteger mostNames = new AtomicInteger();

        @Override
        public void enter(DirectoryNode directory) {
            entered.incrementAndGet();
        }

        @Override
        public void visit(DirectoryNode directory, List<MountPath> names) {
            files.addAndGet(names.size());
            mostNames.accumulateAndGet(names.size(), Math::max);
        }

        @Override
        public void leave(DirectoryNode directory) {
            left.incrementAndGet();
        }
    }

    private static Counter walk(CephTreeWalk walk, int workers) {
        Counter counter = new Counter();
        try (ExecutorService threads = Executors.newFixedThreadPool(workers)) {
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int i = 0; i < workers; i++) {
                all.add(CompletableFuture.runAsync(() -> walk.work(counter), threads));
            }
            all.forEach(CompletableFuture::join);
        }
        assertTrue(walk.isDone());
        assertTrue(counter.mostNames.get() <= CephTreeWalk.BATCH);
        return counter;
    }

    @Test
    void aMillionDirectoriesInOneAreEachSeenOnceAndFewWait() {
        for (int workers : new int[] {1, WORKERS}) {
            CephTreeWalk walk = new CephTreeWalk(new Tree(1, 1_000_000, 0, 0), () -> false);
            Counter seen = walk(walk, workers);
            assertEquals(1_000_001, seen.entered.get());
            assertEquals(1_000_001, seen.left.get());
            assertTrue(walk.mostQueued() <= CephTreeWalk.ENOUGH, walk.mostQueued() + " waited");
        }
    }

    @Test
    void aMillionFilesInOneAreEachSeenOnceAndFewWait() {
        for (int workers : new int[] {1, WORKERS}) {
            CephTreeWalk walk = new CephTreeWalk(new Tree(1, 0, 0, 1_000_000), () -> false);
            assertEquals(1_000_000, walk(walk, workers).files.get());
            assertTrue(walk.mostQueued() <= CephTreeWalk.ENOUGH + WORKERS, walk.mostQueued() + " waited");
        }
    }

    @Test
    void whereEachOfManyLevelsHasManyDirectoriesFewOfEachWait() {
        int levels = 1_000;
        for (int workers : new int[] {1, WORKERS}) {
            CephTreeWalk walk = new CephTreeWalk(new Tree(levels, 1_000, 1, 100), () -> false);
            Counter seen = walk(walk, workers);
            assertEquals(1 + 1_000 * levels, seen.entered.get());
            assertEquals(100 * levels, seen.files.get());
            assertTrue(walk.mostQueued() <= CephTreeWalk.ENOUGH + workers * levels, walk.mostQueued() + " waited");
        }
    }

    @Test
    void aDirectoryIsEnteredBeforeAndLeftAfterAllThatIsInIt() {
        List<String> events = new ArrayList<>();
        CephTreeWalk walk = new CephTreeWalk(new Tree(2, 1, 1, 1), () -> false);
        walk.work(new CephTreeWalk.Visitor() {
            @Override
            public void enter(DirectoryNode directory) {
                events.add("in " + directory.in(MountPath.of("/r")));
            }

            @Override
            public void visit(DirectoryNode directory, List<MountPath> names) {
                events.add(directory.in(MountPath.of("/r")) + names.toString());
            }

            @Override
            public void leave(DirectoryNode directory) {
                events.add("out " + directory.in(MountPath.of("/r")));
            }
        });
        assertEquals("in /r", events.getFirst());
        assertEquals("out /r", events.getLast());
        assertTrue(events.indexOf("in /r/d0") < events.indexOf("/r/d0[f1]"), events.toString());
        assertTrue(events.indexOf("/r/d0[f1]") < events.indexOf("out /r/d0"), events.toString());
        assertTrue(events.indexOf("out /r/d0/d0") < events.indexOf("out /r/d0"), events.toString());
        assertTrue(events.contains("/r[f1]"), events.toString());
    }

    @Test
    void whatIsStoppedIsNotDone() {
        AtomicBoolean stopped = new AtomicBoolean();
        CephTreeWalk walk = new CephTreeWalk(new Tree(3, 10, 10, 10), stopped::get);
        Counter counter = new Counter() {
            @Override
            public void enter(DirectoryNode directory) {
                super.enter(directory);
                stopped.set(true);
            }
        };
        walk.work(counter);
        assertFalse(walk.isDone());
        assertEquals(1, counter.entered.get());
        assertEquals(0, counter.left.get());
    }

    @Test
    void aTreeThatIsTooDeepIsRefusedInAFewWords() {
        DirectoryNode deep = DirectoryNode.ROOT;
        for (int i = 0; i < DirectoryNode.MOST_LEVELS; i++) {
            deep = deep.child(MountPath.of("n".repeat(255)));
        }
        MountPath root = MountPath.of("/volumes/g/v");
        deep.requireWalkable(root);
        assertEquals(
                root.bytes().length() + 256 * DirectoryNode.MOST_LEVELS,
                deep.in(root).bytes().length());
        DirectoryNode deeper = deep.child(MountPath.of("last"));
        String message = assertThrows(DriverException.InUse.class, () -> deeper.requireWalkable(root))
                .getMessage();
        assertTrue(message.startsWith("/volumes/g/v/nnn"), message);
        assertTrue(message.contains("nnn/last is more than 1000 directories deep"), message);
        assertTrue(message.length() < 2_000, message);
    }
}
