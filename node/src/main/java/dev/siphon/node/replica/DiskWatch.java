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

/// Watches one cache directory that datasets are read from, so that a disk which fails its readers is left although
/// the driver itself reads nothing there. The kernel logs each error of a loop device, at most some each second, and
/// where its log cannot be read, or says nothing, a block of a replica is read past the page cache at each look: a
/// disk that fails as a whole fails that too.
final class DiskWatch implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DiskWatch.class);

    /// Between two looks.
    static final Duration PERIOD = Duration.ofMillis(500);

    /// `blk_print_req_error` of `block/blk-mq.c`, and before Linux 5.16 `print_req_error` of `block/blk-core.c`.
    private static final Pattern ERROR = Pattern.compile("error, dev loop([0-9]{1,9}), sector ");

    private final CacheDirectory directory;
    private final Caches caches;
    private final Supplier<List<Attachment>> attached;
    private final KernelLog log = KernelLog.fromNow();
    private final BackgroundTasks.Task task;

    /// @param attached what is attached now, wherever it is read from
    private DiskWatch(
            CacheDirectory directory, Caches caches, Supplier<List<Attachment>> attached, BackgroundTasks tasks) {
        this.directory = directory;
        this.caches = caches;
        this.attached = attached;
        this.task = tasks.every("disk-watch", PERIOD, PERIOD, this::lookOrTell);
    }

    /// Watches each directory from now on, on a thread of its own: a disk that hangs holds up the watch of no other.
    static List<DiskWatch> startAll(Caches caches, Supplier<List<Attachment>> attached, BackgroundTasks tasks) {
        return caches.directories().stream()
                .map(directory -> new DiskWatch(directory, caches, attached, tasks))
                .toList();
    }

    private void lookOrTell() {
        try {
            look();
        } catch (DriverException | ErrnoException | UncheckedIOException notNow) {
            LOG.atWarn()
                    .addKeyValue("cache", directory.path())
                    .addKeyValue("reason", notNow.getMessage())
                    .log("a cache directory is watched again in a moment");
        }
    }

    private void look() {
        Set<Integer> failed = devices(log.said());
        List<Attachment> read = attached.get().stream()
                .filter(each ->
                        each.place().cache().filter(directory.path()::equals).isPresent())
                .toList();
        if (read.isEmpty()) {
            return;
        }
        Optional<Attachment> hit = failed.isEmpty() ? Optional.empty() : over(failed, read);
        hit.ifPresent(each ->
                caches.failing(directory, "who reads dataset " + each.key().digest() + " from it gets I/O errors"));
        caches.probe(directory, read.getFirst().key().digest());
    }

    /// The loop devices of which lines of the kernel's log tell an error.
    static Set<Integer> devices(List<String> lines) {
        return lines.stream()
                .map(ERROR::matcher)
                .filter(Matcher::find)
                .map(found -> Integer.parseInt(found.group(1)))
                .collect(Collectors.toSet());
    }

    private static Optional<Attachment> over(Set<Integer> devices, List<Attachment> read) {
        MountTable table = MountTable.read();
        return read.stream()
                .filter(each -> table.at(each.tree().toString())
                        .map(entry -> Attachments.SOURCE.matcher(entry.source()))
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
