package dev.siphon.node.replica;

import dev.siphon.node.linux.TestJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/// Processes that read random files of a tree until closed, each in its own way. The page cache is dropped
/// repeatedly meanwhile. This class checks what they read.
final class TreeReaders implements AutoCloseable {
    /// Interval between drops of the page cache. Each drop makes every process of this machine read its data again.
    private static final long FORGET_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final TestDataset dataset;
    private final Path tree;
    private final AtomicLong reads = new AtomicLong();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private final List<Process> processes = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean over;

    private TreeReaders(TestDataset dataset, Path tree) {
        this.dataset = dataset;
        this.tree = tree;
    }

    /// Starts one reader per way.
    static TreeReaders start(TestDataset dataset, Path tree, ReadingWay... ways) throws IOException {
        TreeReaders readers = new TreeReaders(dataset, tree);
        for (ReadingWay way : ways) {
            Process process = TestJvm.of(TreeReaders.class, tree.toString(), way.name())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            readers.processes.add(process);
            readers.threads.add(Thread.ofPlatform().daemon().start(() -> readers.check(way, process)));
        }
        readers.threads.add(Thread.ofPlatform().daemon().start(readers::forget));
        return readers;
    }

    /// Returns the number of files read.
    long reads() {
        return reads.get();
    }

    /// Returns the wrong results.
    List<String> wrong() {
        return List.copyOf(wrong);
    }

    private void check(ReadingWay way, Process process) {
        try (BufferedReader output = process.inputReader()) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                String[] words = line.split(" ", 2);
                if (!words[1].equals(way.expected(dataset, tree.resolve(words[0])))) {
                    wrong.add(way + " " + line);
                }
                reads.incrementAndGet();
            }
        } catch (IOException e) {
            if (!over) {
                wrong.add(way + " " + e);
            }
        }
        if (!over) {
            wrong.add(way + " ended by itself");
        }
    }

    private void forget() {
        while (!over) {
            TestDataset.dropCaches();
            LockSupport.parkNanos(FORGET_NANOS);
        }
    }

    /// Kills the readers, and waits until they are gone.
    @Override
    public void close() {
        over = true;
        processes.forEach(TestJvm::kill);
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /// Reads in one way until killed, and prints a line per file: its name and the result.
    ///
    /// @param arguments the tree and the way
    public static void main(String[] arguments) throws IOException {
        ReadingWay way = ReadingWay.valueOf(arguments[1]);
        List<Path> files;
        try (Stream<Path> all = Files.list(Path.of(arguments[0]))) {
            files = all.sorted().toList();
        }
        Random random = new Random();
        while (true) {
            Path file = files.get(random.nextInt(files.size()));
            System.out.println(file.getFileName() + " " + said(way, file));
        }
    }

    private static String said(ReadingWay way, Path file) {
        try {
            return way.read(file);
        } catch (IOException | RuntimeException e) {
            return e.toString().replace('\n', ' ');
        }
    }
}
