package dev.siphon.node.replica;

import dev.siphon.csi.BackgroundTasks;
import dev.siphon.csi.DriverException;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.KernelLog;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.replica.cache.CacheDirectory;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Watches one cache directory that datasets are read from, so that a disk which fails its readers is left
/// although the driver itself reads nothing there. The kernel logs each error of a loop device, at most some each
/// second, and where its log cannot be read, or says nothing, a block of a replica is read past the page cache at
/// each look: a disk that fails as a whole fails that too.
final class DiskWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DiskWatch.class);

    /// Between two looks.
    static final Duration PERIOD = Duration.ofMillis(500);

    /// A kernel that talks faster than it is read must not keep us for ever.
    private static final int MAX_BATCHES = 1_000;

    /// `blk_print_req_error` of `block/blk-mq.c`, and before Linux 5.16 `print_req_error` of `block/blk-core.c`.
    private static final Pattern ERROR = Pattern.compile("error, dev loop([0-9]{1,9}), sector ");

    private final CacheDirectory directory;
    private final CacheDirectories cacheDirectories;
    private final Supplier<List<ImageMount>> attached;
    private final KernelLog log = KernelLog.fromNow();
    private final BackgroundTasks.Task task;

    /// @param attached what is attached now, wherever it is read from
    private DiskWatch(
            CacheDirectory directory,
            CacheDirectories cacheDirectories,
            Supplier<List<ImageMount>> attached,
            BackgroundTasks tasks) {
        this.directory = directory;
        this.cacheDirectories = cacheDirectories;
        this.attached = attached;
        this.task = tasks.every("disk-watch", PERIOD, PERIOD, this::lookOrTell);
    }

    /// Watches each directory from now on, on a thread of its own: a disk that hangs holds up the watch of no
    /// other.
    static List<DiskWatch> startAll(
            CacheDirectories cacheDirectories, Supplier<List<ImageMount>> attached, BackgroundTasks tasks) {
        return cacheDirectories.directories().stream()
                .map(directory -> new DiskWatch(directory, cacheDirectories, attached, tasks))
                .toList();
    }

    private void lookOrTell() {
        try {
            probe();
        } catch (DriverException | ErrnoException | UncheckedIOException notNow) {
            LOG.atWarn()
                    .addKeyValue("cache", directory.path())
                    .addKeyValue("reason", notNow.getMessage())
                    .log("a cache directory is watched again in a moment");
        }
    }

    private void probe() {
        Set<Integer> failed = devices(log.said());
        List<ImageMount> read = attached.get().stream()
                .filter(each ->
                        each.place().cache().filter(directory.path()::equals).isPresent())
                .toList();
        if (read.isEmpty()) {
            return;
        }
        Optional<ImageMount> hit = failed.isEmpty() ? Optional.empty() : over(failed, read);
        hit.ifPresent(each -> fails(each, cacheDirectories, directory));
        cacheDirectories.probe(directory, read.getFirst().key().digest());
    }

    private static void fails(ImageMount read, CacheDirectories cacheDirectories, CacheDirectory directory) {
        cacheDirectories.failing(directory, "who reads dataset " + read.key().digest() + " from it gets I/O errors");
    }

    /// Looks back, for what was attached before the driver started: readers may have met errors while nobody
    /// watched, or before it was known here what is read from where. An older error than a mark would last counts
    /// no more.
    ///
    /// @param lived which is known to [#startAll]'s `attached`, so that no error is met between the two
    /// @param device `/dev/loopN` under it
    /// @param past how long ago errors count
    static void lookBack(ImageMount lived, int device, CacheDirectories cacheDirectories, Duration past) {
        lived.place()
                .cache()
                .filter(_ -> hasFailed(device, past))
                .ifPresent(cache -> fails(lived, cacheDirectories, cacheDirectories.at(cache)));
    }

    private static boolean hasFailed(int device, Duration past) {
        try (KernelLog log = KernelLog.since(past)) {
            boolean hit = false;
            List<String> said = log.said();
            for (int i = 0; i < MAX_BATCHES && !said.isEmpty(); i++) {
                hit = isHit(device, said, hit);
                said = log.said();
            }
            return hit;
        }
    }

    /// Whether a loop device has had an error since it was made: numbers are used again.
    ///
    /// @param lines of the kernel's log, which says that too (`set_capacity_and_notify` of `block/genhd.c`)
    /// @param before what this was before them
    static boolean isHit(int device, List<String> lines, boolean before) {
        String made = "loop" + device + ": detected capacity change from 0 to ";
        boolean hit = before;
        for (String line : lines) {
            hit = !line.startsWith(made) && (hit || devices(List.of(line)).contains(device));
        }
        return hit;
    }

    /// The loop devices of which lines of the kernel's log tell an error.
    static Set<Integer> devices(List<String> lines) {
        return lines.stream()
                .map(ERROR::matcher)
                .filter(Matcher::find)
                .map(found -> Integer.parseInt(found.group(1)))
                .collect(Collectors.toSet());
    }

    private static Optional<ImageMount> over(Set<Integer> devices, List<ImageMount> read) {
        MountTable table = MountTable.read();
        return read.stream()
                .filter(each -> table.at(each.tree().toString())
                        .map(entry -> ImageMounts.SOURCE.matcher(entry.source()))
                        .filter(Matcher::matches)
                        .filter(source -> devices.contains(Integer.parseInt(source.group(1))))
                        .isPresent())
                .findFirst();
    }

    @Override
    public void close() {
        task.close();
    }
}
