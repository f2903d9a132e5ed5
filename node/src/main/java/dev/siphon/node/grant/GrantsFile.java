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

/// The grants as the controller has published them in a file, which it replaces as a whole. Read again when it is
/// another one; safe for several threads.
public final class GrantsFile implements GrantsSource {
    private final Path file;
    private final AtomicReference<ReadGrants> last = new AtomicReference<>(new ReadGrants(Stamp.NONE, Grants.NONE));

    /// @param file need not be there yet
    public GrantsFile(Path file) {
        this.file = file;
    }

    /// What tells one version of the file from the next.
    private record Stamp(FileTime modified, long bytes, String inode) {
        static final Stamp NONE = new Stamp(FileTime.fromMillis(0), -1, "");

        static Stamp of(Path file) throws IOException {
            BasicFileAttributes found = Files.readAttributes(file, BasicFileAttributes.class);
            return new Stamp(found.lastModifiedTime(), found.size(), Objects.toString(found.fileKey()));
        }
    }

    private record ReadGrants(Stamp stamp, Grants grants) {}

    /// The grants of now, whatever the age: to look whether the file is another one costs next to nothing.
    @Override
    public KnownGrants get(Duration age) {
        try {
            Stamp stamp = Stamp.of(file);
            ReadGrants known = last.get();
            if (!known.stamp().equals(stamp)) {
                // a file that is replaced after the stamp was taken is read again the next time
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
