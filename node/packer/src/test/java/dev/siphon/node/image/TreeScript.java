package dev.siphon.node.image;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/// Creates and lists trees with `tree.py`: Python handles names as bytes, and is independent of the packer.
final class TreeScript {
    private static final long LIMIT_SECONDS = 60;

    private final List<String> lines = new ArrayList<>();

    /// Encodes a name or a value for the script.
    static String hex(String text) {
        return hex(text.getBytes(StandardCharsets.UTF_8));
    }

    static String hex(byte[] octets) {
        return HexFormat.of().formatHex(octets);
    }

    /// Adds a line of the script's words.
    TreeScript with(String... words) {
        lines.add(String.join(" ", words));
        return this;
    }

    /// Appends all lines of `later`.
    TreeScript then(TreeScript later) {
        lines.addAll(later.lines);
        return this;
    }

    /// Creates the tree in `directory`.
    void build(Path directory) {
        var _ = run(String.join("\n", lines), "build", directory.toString());
    }

    /// Returns what a kernel shows of the tree in `directory`, one line per name.
    static List<String> show(Path directory, String... how) {
        List<String> command = new ArrayList<>(List.of("show", directory.toString()));
        command.addAll(List.of(how));
        return run("", command.toArray(String[]::new)).lines().toList();
    }

    private static String run(String input, String... arguments) {
        try (InputStream script = Objects.requireNonNull(TreeScript.class.getResourceAsStream("tree.py"))) {
            List<String> command = new ArrayList<>(
                    List.of("python3", "-c", new String(script.readAllBytes(), StandardCharsets.UTF_8)));
            command.addAll(List.of(arguments));
            Path said = Files.createTempFile("siphon-it-", ".out");
            try {
                Process process = new ProcessBuilder(command)
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .redirectOutput(said.toFile())
                        .start();
                process.getOutputStream().write(input.getBytes(StandardCharsets.US_ASCII));
                process.getOutputStream().close();
                if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                    process.destroyForcibly();
                    throw new IllegalStateException("tree.py " + List.of(arguments) + " did not end well");
                }
                return Files.readString(said, StandardCharsets.US_ASCII);
            } finally {
                Files.delete(said);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
