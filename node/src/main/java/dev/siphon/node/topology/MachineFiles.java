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

/// Reads attributes of devices. What is not there, or cannot be read, is empty: a device may be gone between two
/// looks, and a VM's or a container's sysfs has gaps.
final class MachineFiles {
    /// sysfs gives at most a page (`Documentation/filesystems/sysfs.rst`).
    private static final int MAX_BYTES = 4096;

    private static final int HEX = 16;

    private MachineFiles() {}

    /// What `file` says, without blanks around it.
    static Optional<String> text(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return Optional.of(new String(in.readNBytes(MAX_BYTES), StandardCharsets.ISO_8859_1).strip())
                    .filter(text -> !text.isEmpty());
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /// The number in `file`, decimal or with `0x`; empty for anything else.
    static OptionalInt number(Path file) {
        try {
            String text = text(file).orElse("");
            return OptionalInt.of(
                    text.startsWith("0x") ? Integer.parseInt(text.substring(2), HEX) : Integer.parseInt(text));
        } catch (NumberFormatException _) {
            return OptionalInt.empty();
        }
    }

    /// What is in `folder`, by name; nothing where there is none.
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

    /// Where `path` is once all its links are followed; empty if it leads nowhere.
    static Optional<Path> real(Path path) {
        try {
            return Optional.of(path.toRealPath());
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /// The last part of `path`.
    static String name(Path path) {
        return Optional.ofNullable(path.getFileName()).map(Path::toString).orElse("");
    }
}
