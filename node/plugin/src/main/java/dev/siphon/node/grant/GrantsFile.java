package dev.siphon.node.grant;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/// Reads the grants from a file that the controller replaces as a whole. Reads it again when it changes.
/// Thread-safe.
public final class GrantsFile implements GrantsSource {
    private final Path file;
    private final AtomicReference<ReadGrants> last = new AtomicReference<>(new ReadGrants(Stamp.NONE, Grants.NONE));

    /// @param file need not exist yet
    public GrantsFile(Path file) {
        this.file = file;
    }

    /// Identifies a version of the file.
    private record Stamp(FileTime modified, long bytes, String inode) {
        static final Stamp NONE = new Stamp(FileTime.fromMillis(0), -1, "");

        static Stamp of(Path file) throws IOException {
            BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
            return new Stamp(found.lastModifiedTime(), found.size(), Objects.toString(found.fileKey()));
        }
    }

    private record ReadGrants(Stamp stamp, Grants grants) {}

    /// Returns the present grants, whatever the age: checking the file for a change is cheap.
    @Override
    public KnownGrants get(Duration age) {
        try {
            Stamp stamp = Stamp.of(file);
            ReadGrants known = last.get();
            if (!known.stamp().equals(stamp)) {
                // if the file is replaced after this stamp, the next call reads it again
                known = new ReadGrants(stamp, Grants.parse(Files.readString(file)));
                last.set(known);
            }
            return new KnownGrants(known.grants(), Optional.empty());
        } catch (IOException | DriverException.BackendFault e) {
            throw new DriverException.BackendUnavailable(
                    "whether the pod's namespace may use the volume is not known: " + file + " cannot be read: " + e);
        }
    }
}
