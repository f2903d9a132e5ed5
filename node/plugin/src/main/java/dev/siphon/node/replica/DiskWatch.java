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

/// Watches one cache directory that datasets are read from, so that readers leave a failing disk even if the driver
/// itself reads nothing there. The kernel logs the errors of loop devices, rate-limited to a few per second. Each
/// check also reads a block of a replica past the page cache. That read fails if the whole disk fails, even if the
/// kernel log is silent or unreadable.
final class DiskWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DiskWatch.class);

    /// The time between two checks.
    static final Duration PERIOD = Duration.ofMillis(500);

    /// Bounds the loop if the kernel logs faster than the driver reads.
    private static final int MAX_BATCHES = 1_000;

    /// Logged by `blk_print_req_error` of `block/blk-mq.c`; before Linux 5.16, by `print_req_error` of
    /// `block/blk-core.c`.
    private static final Pattern ERROR = Pattern.compile("error, dev loop([0-9]{1,9}), sector ");

    private final CacheDirectory directory;
    private final CacheDirectories cacheDirectories;
    private final Supplier<List<ImageMount>> attached;
    private final KernelLog log = KernelLog.fromNow();
    private final BackgroundTasks.Task task;

    /// @param attached all image mounts, wherever they are read from
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

    /// Watches each directory on its own thread, so that a hanging disk delays no other watch.
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
        cacheDirectories.failing(directory, "reads of dataset " + read.key().digest() + " from it get I/O errors");
    }

    /// Checks the kernel log for earlier errors of an image mount that existed before the driver started. Its
    /// readers may have met errors while the driver did not watch, or before it knew the mount's location. Ignores
    /// errors older than `past`, because the failing mark for them would have expired.
    ///
    /// @param lived the image mount; [#startAll] must already see it in `attached`, so that no error is missed in
    ///     between
    /// @param device the N of `/dev/loopN` under it
    /// @param past the age up to which errors count
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

    /// Returns whether a loop device has had an error since it was set up; device numbers are reused.
    ///
    /// @param lines lines of the kernel log, which also reports the setup (`set_capacity_and_notify` of
    ///     `block/genhd.c`)
    /// @param before the result for the preceding lines
    static boolean isHit(int device, List<String> lines, boolean before) {
        String made = "loop" + device + ": detected capacity change from 0 to ";
        boolean hit = before;
        for (String line : lines) {
            hit = !line.startsWith(made) && (hit || devices(List.of(line)).contains(device));
        }
        return hit;
    }

    /// Returns the loop devices with an error in `lines` of the kernel log.
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
