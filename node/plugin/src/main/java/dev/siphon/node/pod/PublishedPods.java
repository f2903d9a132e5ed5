package dev.siphon.node.pod;

import dev.siphon.node.mount.TargetPath;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Records which pod each target path was published for, in files of a directory of its own. A process that starts
/// after the pod cannot learn it from the kubelet or the kernel.
///
/// Errors of a file are only logged: a pod must start even if later faults cannot be reported to it.
public final class PublishedPods {
    private static final Logger LOG = LoggerFactory.getLogger(PublishedPods.class);
    private static final int MAX_BYTES = 8192;

    private final Path folder;

    /// @param folder created when needed
    public PublishedPods(Path folder) {
        this.folder = folder;
    }

    /// Removes the records of target paths that no longer exist, whoever removed them.
    public void sweep() {
        try (Stream<Path> files = Files.isDirectory(folder) ? Files.list(folder) : Stream.empty()) {
            for (Path file : files.toList()) {
                if (text(file)
                        .flatMap(PublishedPods::target)
                        .filter(Files::isDirectory)
                        .isEmpty()) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (IOException e) {
            LOG.atWarn().addKeyValue("reason", e.toString()).log("cannot list the pods of target paths");
        }
    }

    /// Returns the parent of the target path: the path itself may be a mount that hangs.
    private static Optional<Path> target(String text) {
        return lines(text).map(lines -> Path.of(lines.getFirst()).getParent());
    }

    private static Optional<List<String>> lines(String text) {
        List<String> lines = text.lines().toList();
        return lines.size() == 2 && lines.getFirst().startsWith("/") ? Optional.of(lines) : Optional.empty();
    }

    /// Returns the known pods by target path.
    public Map<String, Pod> all() {
        Map<String, Pod> pods = new HashMap<>();
        try (Stream<Path> files = Files.isDirectory(folder) ? Files.list(folder) : Stream.empty()) {
            for (Path file : files.toList()) {
                text(file)
                        .flatMap(PublishedPods::lines)
                        .ifPresent(
                                lines -> Pod.parse(lines.getLast()).ifPresent(pod -> pods.put(lines.getFirst(), pod)));
            }
        } catch (IOException e) {
            LOG.atWarn().addKeyValue("reason", e.toString()).log("cannot list the pods of target paths");
        }
        return pods;
    }

    /// Records the pod of `target`.
    void put(TargetPath target, Pod pod) {
        Path file = file(target);
        Path next = file.resolveSibling(file.getFileName() + ".new");
        try {
            Files.createDirectories(folder);
            Files.writeString(next, target.text() + "\n" + pod.toJson() + "\n");
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            failed("the pod of a target path cannot be kept", target, e);
        }
    }

    /// Removes the record of `target`.
    void remove(TargetPath target) {
        try {
            Files.deleteIfExists(file(target));
        } catch (IOException e) {
            failed("the pod of a target path cannot be forgotten", target, e);
        }
    }

    /// Returns the pod of `target`, if it is known.
    Optional<Pod> at(TargetPath target) {
        try {
            return text(file(target)).flatMap(PublishedPods::lines).flatMap(lines -> Pod.parse(lines.getLast()));
        } catch (IOException e) {
            failed("the pod of a target path cannot be read", target, e);
            return Optional.empty();
        }
    }

    private static Optional<String> text(Path file) throws IOException {
        try {
            return Files.size(file) > MAX_BYTES ? Optional.empty() : Optional.of(Files.readString(file));
        } catch (NoSuchFileException | CharacterCodingException _) {
            return Optional.empty();
        }
    }

    private static void failed(String what, TargetPath target, IOException e) {
        LOG.atWarn()
                .addKeyValue("path", target.text())
                .addKeyValue("reason", e.toString())
                .log(what);
    }

    /// Returns the record's file. Its name is a digest, because a path can be too long for a file name.
    private Path file(TargetPath target) {
        try {
            byte[] digest =
                    MessageDigest.getInstance("SHA-256").digest(target.text().getBytes(StandardCharsets.UTF_8));
            return folder.resolve(HexFormat.of().formatHex(digest));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has it", e);
        }
    }
}
