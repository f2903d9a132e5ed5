package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;

/// Keeps foreign data from filling a file system: a server may send without end, and a small archive may unpack to
/// any size. A full CephFS accepts writes from nobody.
final class FreeSpaceGuard {
    /// The space that is left to others: a twentieth of the total, at most 1 TiB.
    private static final int SHARE = 20;

    private static final long ENOUGH = 1L << 40;

    /// How many bytes are written between two checks.
    private static final long EVERY = 16 << 20;

    private final Path directory;
    private final Space space;
    private long unseen;

    /// The size of a file system.
    interface Space {
        /// In bytes.
        long total() throws IOException;

        /// In bytes.
        long usable() throws IOException;
    }

    FreeSpaceGuard(Path directory, Space space) {
        this.directory = directory;
        this.space = space;
    }

    /// @param directory exists
    static FreeSpaceGuard at(Path directory) {
        try {
            FileStore store = Files.getFileStore(directory);
            return new FreeSpaceGuard(directory, new Space() {
                @Override
                public long total() throws IOException {
                    return store.getTotalSpace();
                }

                @Override
                public long usable() throws IOException {
                    return store.getUsableSpace();
                }
            });
        } catch (IOException e) {
            throw StoreErrors.translate("measuring", directory, e);
        }
    }

    /// @throws DriverException.QuotaExhausted (RESOURCE_EXHAUSTED) if there is no room for `bytes` more
    void check(long bytes) {
        try {
            long usable = space.usable();
            long left = Math.min(space.total() / SHARE, ENOUGH);
            if (usable - left < bytes) {
                throw new DriverException.QuotaExhausted("there is room for " + Math.max(0, usable - left)
                        + " bytes at " + QuotedText.of(directory.toString()) + ", beside " + left
                        + " that stay free for others, but " + (bytes > 0 ? bytes + " are" : "an unknown number is")
                        + " needed: make room");
            }
        } catch (IOException e) {
            throw StoreErrors.translate("measuring", directory, e);
        }
    }

    /// Counts bytes about to be written; checks the free space every 16 MiB.
    ///
    /// @throws DriverException.QuotaExhausted as [#check]
    void writing(long bytes) {
        unseen += bytes;
        if (unseen >= EVERY) {
            unseen = 0;
            check(1);
        }
    }
}
