package dev.siphon.node.mount;

import dev.siphon.csi.dataset.Digest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// Small texts in files of a directory of their own, which survive restarts. A killed process leaves a whole text or
/// the
/// one before it.
public final class RecordFiles {
    private static final int MAX_BYTES = 8192;
    private static final String NEXT = ".new";

    private final Path folder;

    /// @param folder created when needed
    public RecordFiles(Path folder) {
        this.folder = folder;
    }

    /// Returns a name for what cannot be a file's name itself: a digest of it.
    public static String nameOf(String key) {
        return Digest.of(ByteBuffer.wrap(key.getBytes(StandardCharsets.UTF_8))).hex();
    }

    /// Writes a record, instead of the one of that name.
    public void put(String name, String text) throws IOException {
        Files.createDirectories(folder);
        Path next = folder.resolve(name + NEXT);
        Files.writeString(next, text);
        Files.move(next, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }

    /// Returns a record; empty if there is none, or it is larger than any that this driver writes.
    public Optional<String> find(String name) throws IOException {
        return read(folder.resolve(name));
    }

    /// Removes a record. Idempotent.
    public void remove(String name) throws IOException {
        Files.deleteIfExists(folder.resolve(name));
    }

    /// Returns all records by name. One that is no text is an empty one.
    public Map<String, String> all() throws IOException {
        Map<String, String> all = new HashMap<>();
        for (Path file : files()) {
            String name = String.valueOf(file.getFileName());
            if (!name.endsWith(NEXT)) {
                all.put(name, text(file));
            }
        }
        return all;
    }

    /// Removes the records that `keep` does not want, and what interrupted writes have left. For the start: a write of
    /// this moment would fail.
    public void sweep(Predicate<String> keep) throws IOException {
        for (Path file : files()) {
            if (file.toString().endsWith(NEXT) || !keep.test(text(file))) {
                Files.deleteIfExists(file);
            }
        }
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.isDirectory(folder) ? Files.list(folder) : Stream.empty()) {
            return files.toList();
        }
    }

    private static String text(Path file) throws IOException {
        try {
            return read(file).orElse("");
        } catch (CharacterCodingException _) {
            return "";
        }
    }

    private static Optional<String> read(Path file) throws IOException {
        try {
            return Files.size(file) > MAX_BYTES ? Optional.empty() : Optional.of(Files.readString(file));
        } catch (NoSuchFileException _) {
            return Optional.empty();
        }
    }
}
