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

/// A directory for replicas, on one disk of this node. Mode 0700: what a dataset's readers may read, others may not
/// find here.
///
/// Methods that ask the disk may hang with it, and throw [UncheckedIOException] if it fails.
public final class CacheDirectory {
    /// How long a disk that fails is left alone at most, and how long it has to work before its failures are
    /// forgotten.
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
    /// @param why for people
    /// @param unreadable whether what is in it is not to be read either
    /// @param until when it is tried again
    public record Trouble(String why, boolean unreadable, Instant until) {}

    public CacheDirectory(CacheDirectoryLimits limits) {
        this(limits, _ -> {}, InstantSource.system());
    }

    /// @param onFailure called with the directory each time its disk begins to fail, by whoever met the error; must
    ///     not wait
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

    /// Makes the directory if need be and allowed, and removes what an eviction left that was killed; once, and
    /// again when it was missing.
    ///
    /// @throws UncheckedIOException by a NoSuchFileException if it is missing and has to be there
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

    /// The files of `digest` here, whether or not there are any.
    public CachedReplica replica(Digest digest) {
        return new CachedReplica(path(), digest);
    }

    /// All that is here, whole and in part.
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

    /// What replicas take, those being filled at their full length.
    public long usedBytes() {
        return replicas().stream().mapToLong(CachedReplica::bytes).sum();
    }

    /// What the disk has left, whatever the limit says.
    public long freeBytes() {
        try (DirectoryHandle directory = DirectoryHandle.open(path().toString())) {
            return directory.usage().availableBytes();
        }
    }

    /// Keeps new replicas away for a while: there is no room for them.
    public synchronized void full(String why, Duration retryAfter) {
        if (isReadable()) {
            trouble = Optional.of(new Trouble(why, false, clock.instant().plus(retryAfter)));
        }
    }

    /// Keeps readers and new replicas away for a while: the disk fails. Repeating it meanwhile changes nothing.
    ///
    /// @param retryAfter that while; doubled with each failure within a day after the one before, up to a day
    public void failing(String why, Duration retryAfter) {
        if (isNewFailure(why, retryAfter)) {
            onFailure.accept(path());
        }
    }

    /// The same where the directory is missing, as its disk is not mounted: no disk has failed, so the next try
    /// is not put off longer each time.
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

    /// How many times the disk has begun to fail. What was read from it when there were fewer proves nothing.
    public synchronized long failures() {
        return failures;
    }

    /// What keeps this directory from being used now.
    public synchronized Optional<Trouble> trouble() {
        trouble = trouble.filter(now -> clock.instant().isBefore(now.until()));
        return trouble;
    }

    /// Whether what is here may be read.
    public boolean isReadable() {
        return trouble().filter(Trouble::unreadable).isEmpty();
    }
}
