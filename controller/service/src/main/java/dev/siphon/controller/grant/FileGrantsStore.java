package dev.siphon.controller.grant;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Stores the grants in a file, which holds no secret.
public final class FileGrantsStore implements GrantsStore {
    private static final Logger LOG = LoggerFactory.getLogger(FileGrantsStore.class);

    private final Path file;
    private final Path aside;

    /// @param file in an existing directory; a temporary file is written beside it first
    /// @throws IllegalArgumentException if there is no such directory
    public FileGrantsStore(Path file) {
        this.file = file.toAbsolutePath();
        this.aside = this.file.resolveSibling("." + this.file.getFileName() + ".new");
        if (!Files.isDirectory(aside.resolveSibling(""))) {
            throw new IllegalArgumentException("the directory of " + file + " does not exist");
        }
    }

    @Override
    public Grants last() {
        try {
            return Files.exists(file) ? Grants.parse(Files.readString(file)) : Grants.NONE;
        } catch (IOException | DriverException.BackendFault e) {
            LOG.warn("{} cannot be read and is rewritten: {}", file, e.toString());
            return Grants.NONE;
        }
    }

    @Override
    public void publish(Grants grants) {
        try {
            // no fsync: each start rewrites it
            Files.writeString(aside, grants.toJson());
            Files.move(aside, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable("the grants of namespaces cannot be published: " + e);
        }
    }

    @Override
    public long mostBytes() {
        return Long.MAX_VALUE;
    }

    @Override
    public String where() {
        return file.toString();
    }
}
