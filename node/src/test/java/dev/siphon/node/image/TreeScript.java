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

/// What `tree.py` makes and sees: Python takes names as the octets that they are, and knows nothing of the packer.
final class TreeScript {
    private static final long LIMIT_SECONDS = 60;

    private final List<String> lines = new ArrayList<>();

    /// A name or a value as the script takes it.
    static String hex(String text) {
        return hex(text.getBytes(StandardCharsets.UTF_8));
    }

    static String hex(byte[] octets) {
        return HexFormat.of().formatHex(octets);
    }

    /// Adds a line; its words are as the script has them.
    TreeScript with(String... words) {
        lines.add(String.join(" ", words));
        return this;
    }

    /// Adds all lines of `later`.
    TreeScript then(TreeScript later) {
        lines.addAll(later.lines);
        return this;
    }

    /// Makes it all in `directory`.
    void build(Path directory) {
        var _ = run(String.join("\n", lines), "build", directory.toString());
    }

    /// What a kernel shows of the tree in `directory`, a line per name.
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
