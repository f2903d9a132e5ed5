package dev.siphon.node.topology;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/// Reads attributes of devices. A missing or unreadable file counts as empty: a device may disappear at any time,
/// and the sysfs of a VM or container has gaps.
final class MachineFiles {
    /// An attribute in sysfs has at most a page (`Documentation/filesystems/sysfs.rst`).
    private static final int MAX_BYTES = 4096;

    private static final int HEX = 16;

    private MachineFiles() {}

    /// Returns the text of `file`, without surrounding blanks.
    static Optional<String> text(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return Optional.of(new String(in.readNBytes(MAX_BYTES), StandardCharsets.ISO_8859_1).strip())
                    .filter(text -> !text.isEmpty());
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /// Returns the number in `file`, decimal or with `0x`; empty for any other content.
    static OptionalInt number(Path file) {
        try {
            String text = text(file).orElse("");
            return OptionalInt.of(
                    text.startsWith("0x") ? Integer.parseInt(text.substring(2), HEX) : Integer.parseInt(text));
        } catch (NumberFormatException _) {
            return OptionalInt.empty();
        }
    }

    /// Returns the entries of `folder`, sorted by name; empty if it is missing.
    static List<Path> entries(Path folder) {
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder)) {
            stream.forEach(found::add);
        } catch (IOException | DirectoryIteratorException _) {
            return List.of();
        }
        found.sort(Comparator.comparing(MachineFiles::name));
        return List.copyOf(found);
    }

    /// Resolves all symbolic links in `path`; empty if it leads nowhere.
    static Optional<Path> real(Path path) {
        try {
            return Optional.of(path.toRealPath());
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /// Returns the last element of `path`.
    static String name(Path path) {
        return Optional.ofNullable(path.getFileName()).map(Path::toString).orElse("");
    }
}
