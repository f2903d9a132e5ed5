package dev.siphon.node.replica.cache;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.node.linux.DirectoryHandle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/// A directory for replicas, on one disk of this node. Its mode is 0700, because only a dataset's readers may see
/// its content.
///
/// Methods that access the disk may hang with it, and throw [UncheckedIOException] if it fails.
public final class CacheDirectory {
    /// The longest time to avoid a failing disk. A disk that works this long after its last failure starts again
    /// with short delays.
    private static final Duration LONGEST_RETRY = Duration.ofDays(1);

    private static final int MAX_DOUBLINGS = 20;

    private final CacheDirectoryLimits limits;
    private final Consumer<Path> onFailure;
    private final InstantSource clock;
    private Optional<Trouble> trouble = Optional.empty();
    private Instant lastFailureEnds = Instant.MIN;
    private int failuresInRow;
    private long failures;
    private volatile boolean prepared;

    /// Why a directory is not used for now.
    ///
    /// @param why the reason, for administrators
    /// @param unreadable whether existing replicas must not be read either
    /// @param until when it is retried
    public record Trouble(String why, boolean unreadable, Instant until) {}

    public CacheDirectory(CacheDirectoryLimits limits) {
        this(limits, _ -> {}, InstantSource.system());
    }

    /// @param onFailure called with the directory each time its disk starts to fail, on the thread that met the
    ///     error; must not block
    public CacheDirectory(CacheDirectoryLimits limits, Consumer<Path> onFailure, InstantSource clock) {
        this.limits = limits;
        this.onFailure = onFailure;
        this.clock = clock;
    }

    public CacheDirectoryLimits limits() {
        return limits;
    }

    public Path path() {
        return limits.directory();
    }

    /// Creates the directory if it is missing and not `required`, and deletes the remains of interrupted evictions.
    /// Runs once, and again after the directory was missing.
    ///
    /// @throws UncheckedIOException with a NoSuchFileException as cause if a required directory is missing
    public void prepare() {
        if (prepared) {
            return;
        }
        try {
            if (!limits.required()) {
                Files.createDirectories(path());
            }
            Files.setPosixFilePermissions(path(), PosixFilePermissions.fromString("rwx------"));
            try (DirectoryStream<Path> left = Files.newDirectoryStream(path(), CachedReplica.GONE + "*")) {
                for (Path gone : left) {
                    CachedReplica.delete(gone);
                }
            }
            prepared = true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns the replica of `digest` here, whether or not it has files.
    public CachedReplica replica(Digest digest) {
        return new CachedReplica(path(), digest);
    }

    /// Returns all replicas here, whole and partial.
    public List<CachedReplica> replicas() {
        List<CachedReplica> found = new ArrayList<>();
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(path())) {
            for (Path folder : folders) {
                digest(folder).ifPresent(digest -> found.add(replica(digest)));
            }
        } catch (DirectoryIteratorException e) {
            throw new UncheckedIOException(e.getCause());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }

    private static Optional<Digest> digest(Path folder) {
        try {
            return Optional.of(new Digest(String.valueOf(folder.getFileName())));
        } catch (DriverException.InvalidRequest _) {
            return Optional.empty(); // lost+found, and what is being removed
        }
    }

    /// Returns the bytes of all replicas; a partial one counts at its full length.
    public long usedBytes() {
        return replicas().stream().mapToLong(CachedReplica::bytes).sum();
    }

    /// Returns the free bytes of the disk, regardless of the limit.
    public long freeBytes() {
        try (DirectoryHandle directory = DirectoryHandle.open(path().toString())) {
            return directory.usage().availableBytes();
        }
    }

    /// Rejects new replicas for a while, because there is no room.
    public synchronized void full(String why, Duration retryAfter) {
        if (isReadable()) {
            trouble = Optional.of(new Trouble(why, false, clock.instant().plus(retryAfter)));
        }
    }

    /// Stops reads and new replicas for a while, because the disk fails. Repeating it meanwhile changes nothing.
    ///
    /// @param retryAfter the delay until the next try; it doubles with each failure within a day of the previous
    ///     delay's end, up to a day
    public void failing(String why, Duration retryAfter) {
        if (isNewFailure(why, retryAfter)) {
            onFailure.accept(path());
        }
    }

    /// Stops reads and new replicas for a while, because the directory is missing: its disk is not mounted. The
    /// delay does not grow, because no disk has failed.
    public void missing(Duration retryAfter) {
        prepared = false;
        synchronized (this) {
            if (!isReadable()) {
                return;
            }
            String why = "the cache directory " + path() + " is missing: mount its disk, or make the directory there";
            trouble = Optional.of(new Trouble(why, true, clock.instant().plus(retryAfter)));
            failures++;
        }
        onFailure.accept(path());
    }

    private synchronized boolean isNewFailure(String why, Duration retryAfter) {
        if (!isReadable()) {
            return false;
        }
        Instant now = clock.instant();
        boolean soonAgain = now.minus(LONGEST_RETRY).isBefore(lastFailureEnds);
        failuresInRow = soonAgain ? Math.min(failuresInRow + 1, MAX_DOUBLINGS) : 0;
        Duration doubled = retryAfter.multipliedBy(1L << failuresInRow);
        lastFailureEnds = now.plus(doubled.compareTo(LONGEST_RETRY) < 0 ? doubled : LONGEST_RETRY);
        trouble = Optional.of(new Trouble(why, true, lastFailureEnds));
        failures++;
        return true;
    }

    /// Returns how often the disk has started to fail. Data read at a lower count may be wrong.
    public synchronized long failures() {
        return failures;
    }

    /// Returns why this directory is not used now; empty if it is usable.
    public synchronized Optional<Trouble> trouble() {
        trouble = trouble.filter(now -> clock.instant().isBefore(now.until()));
        return trouble;
    }

    /// Returns whether existing replicas here may be read.
    public boolean isReadable() {
        return trouble().filter(Trouble::unreadable).isEmpty();
    }
}
