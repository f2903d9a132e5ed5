package dev.siphon.node.unpack;

import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchFailure.Reason;
import java.util.concurrent.atomic.AtomicLong;

/// Counts what a tree has, and refuses more than is allowed. For several threads.
final class TreeLimits {
    private final long maxBytes;
    private final long maxFiles;
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong files = new AtomicLong();

    /// @param maxFiles files, directories and links
    TreeLimits(long maxBytes, long maxFiles) {
        this.maxBytes = maxBytes;
        this.maxFiles = maxFiles;
    }

    /// Counts a file, a directory or a link.
    ///
    /// @throws FetchFailure TooManyFiles
    void addFile() {
        if (files.incrementAndGet() > maxFiles) {
            throw new FetchFailure(
                    Reason.TOO_MANY_FILES,
                    "the source has more than " + maxFiles + " files, directories and links: pack small files into"
                            + " larger ones, or ask an administrator for a higher limit");
        }
    }

    /// Counts bytes of files, zeros included.
    ///
    /// @throws FetchFailure TooLarge
    void addBytes(long count) {
        long room = maxBytes - bytes.get();
        if (count > room || bytes.addAndGet(count) > maxBytes) {
            throw tooLarge("the files of the source have");
        }
    }

    /// Checks the size of a download, which no limit below the size of its files helps.
    ///
    /// @throws FetchFailure TooLarge
    void checkDownload(long count) {
        if (count > maxBytes) {
            throw tooLarge("the source has");
        }
    }

    private FetchFailure tooLarge(String what) {
        return new FetchFailure(
                Reason.TOO_LARGE, what + " more than " + maxBytes + " bytes: ask for a larger size, or for less data");
    }

    long bytes() {
        return bytes.get();
    }

    long files() {
        return files.get();
    }
}
